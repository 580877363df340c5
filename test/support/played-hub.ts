/**
 * The hub's part of a registration, played by a test with an admin's rights on a real control plane: what a Fleet hub
 * writes, in the order and at the pace that the test wants.
 */
import type { BootstrapValues } from '../../api/fleet/bootstrap-values.ts';
import { bootstrapSecretData } from '../../api/fleet/bootstrap-values.ts';
import { secretTypes } from '../../api/fleet/constants.ts';
import type { ClusterRegistration } from '../../api/fleet/kinds.ts';
import { ClusterRegistrations, Clusters } from '../../api/fleet/kinds.ts';
import { clusterNamespace, registrationSecretName } from '../../api/fleet/names.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import { Namespaces, Secrets, ServiceAccounts } from '../../api/kubernetes/core.ts';
import type { PolicyRule } from '../../api/kubernetes/rbac.ts';
import { RoleBindings, Roles } from '../../api/kubernetes/rbac.ts';
import { CustomResourceDefinitions } from '../../api/kubernetes/workloads.ts';
import type { ResourceType } from '../../api/resource.ts';
import { synthCrds } from '../../components/fleet/index.ts';
import { isAlreadyExists } from '../../runtime/kube/api-error.ts';
import { pause } from '../../runtime/kube/backoff.ts';
import { createCache } from '../../runtime/kube/cache.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { ControlPlane } from '../harness/index.ts';
import { poll } from '../harness/index.ts';

const workspace = 'fleet-default';
const registrations = 'cattle-fleet-clusters-system';

/** Options of {@link PlayedHub.start}. */
export interface PlayedHubOptions {
  /** Answer requests as they come. Default: true. */
  readonly grants?: boolean;
  /** Publish the credential this long before the rights that it needs. Default: 0, rights first. */
  readonly rightsLateMs?: number;
  /** Life of the agents' tokens. Default: an hour. */
  readonly tokenSeconds?: number;
}

export class PlayedHub {
  readonly plane: ControlPlane;
  readonly client: KubeClient;
  grants: boolean;
  readonly #options: PlayedHubOptions;
  readonly #stop = new AbortController();
  readonly #answered = new Set<string>();
  readonly #work: Promise<unknown>[] = [];
  #bootstrapToken = '';

  static async start(plane: ControlPlane, options: PlayedHubOptions = {}): Promise<PlayedHub> {
    const hub = new PlayedHub(plane, options);
    await hub.#prepare();
    const cache = createCache(hub.client, ClusterRegistrations, { namespace: workspace });
    cache.subscribe((event) => {
      if (event.type !== 'deleted' && hub.grants) hub.#work.push(hub.answer(event.object));
    });
    hub.#work.push(cache.start(hub.#stop.signal));
    return hub;
  }

  private constructor(plane: ControlPlane, options: PlayedHubOptions) {
    this.plane = plane;
    this.client = plane.client();
    this.grants = options.grants ?? true;
    this.#options = options;
  }

  /** What a token's values Secret would say. */
  values(changes: Partial<BootstrapValues> = {}): BootstrapValues {
    return {
      clusterNamespace: workspace,
      apiServerURL: this.plane.server,
      apiServerCA: this.plane.ca,
      token: this.#bootstrapToken,
      tokenName: 'tok',
      systemRegistrationNamespace: registrations,
      ...changes,
    };
  }

  /** The bootstrap Secret for an agent in `namespace`. */
  invitation(namespace: string, changes: Partial<BootstrapValues> = {}): Secret {
    const metadata = { namespace, name: 'fleet-agent-bootstrap' };
    return { apiVersion: 'v1', kind: 'Secret', metadata, data: bootstrapSecretData(this.values(changes)) };
  }

  async requests(): Promise<ClusterRegistration[]> {
    return (await this.client.list(ClusterRegistrations, { namespace: workspace })).items;
  }

  /** Takes all requests, Clusters, their namespaces' ServiceAccounts and answers away. */
  async reset(): Promise<void> {
    const { client } = this;
    for (const { metadata } of await this.requests()) {
      await client.delete(ClusterRegistrations, { namespace: workspace, name: metadata.name ?? '' });
    }
    for (const { metadata } of (await client.list(Clusters, { namespace: workspace })).items) {
      await this.removeCluster(metadata.name ?? '');
    }
    for (const { metadata } of (await client.list(Secrets, { namespace: registrations })).items) {
      await client.delete(Secrets, { namespace: registrations, name: metadata.name ?? '' });
    }
    this.#answered.clear();
  }

  /** Deletes a Cluster and the account of its agent: its credential is worth nothing from then on. */
  async removeCluster(name: string): Promise<void> {
    const namespace = clusterNamespace(workspace, name);
    for (const { metadata } of (await this.client.list(ServiceAccounts, { namespace })).items) {
      await this.client.delete(ServiceAccounts, { namespace, name: metadata.name ?? '' });
    }
    await this.client.delete(Clusters, { namespace: workspace, name });
  }

  /** Grants one request, once. */
  async answer(registration: ClusterRegistration): Promise<void> {
    const { name = '', uid = '' } = registration.metadata;
    if (this.#answered.has(uid)) return;
    this.#answered.add(uid);
    const { clientID = '', clientRandom = '' } = registration.spec ?? {};
    const cluster = `c-${(clientID ?? '').slice(0, 8)}`;
    const namespace = clusterNamespace(workspace, cluster);
    await this.#create(Namespaces, { metadata: { name: namespace } });
    await this.#create(Clusters, { metadata: { namespace: workspace, name: cluster }, spec: { clientID } });
    await this.#create(ServiceAccounts, { metadata: { namespace, name } });
    const { token } = await this.client.createToken(
      { namespace, name },
      { expirationSeconds: this.#options.tokenSeconds ?? 3600 },
    );
    const answer = registrationSecretName(clientID ?? '', clientRandom ?? '');
    const rights = async (): Promise<void> => {
      const subject = { namespace, name };
      const status = { apiGroups: ['fleet.cattle.io'], resources: ['clusters/status'], verbs: ['patch'] };
      await this.#allow(workspace, name, [{ ...status, resourceNames: [cluster] }], subject);
      const renew = { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'], resourceNames: [name] };
      await this.#allow(namespace, name, [renew], subject);
    };
    const late = this.#options.rightsLateMs ?? 0;
    if (late === 0) await rights();
    const read = { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: [answer] };
    await this.#allow(registrations, name, [read], { namespace: workspace, name: 'tok-account' });
    await this.#create(Secrets, {
      type: secretTypes.agentCredential,
      metadata: { namespace: registrations, name: answer },
      stringData: { token, clusterNamespace: workspace, clusterName: cluster, deploymentNamespace: namespace },
    });
    if (late > 0) {
      await pause(late, this.#stop.signal);
      await rights();
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#work);
    await this.client.close();
  }

  async #prepare(): Promise<void> {
    for (const crd of synthCrds()) {
      await this.client.apply(CustomResourceDefinitions, crd as never, { fieldManager: 'test' });
    }
    for (const type of [ClusterRegistrations, Clusters]) {
      const served = () => this.client.list(type as ResourceType).catch(() => undefined);
      await poll(served, { what: `${type.plural} to be served` });
    }
    for (const name of [workspace, registrations]) await this.#create(Namespaces, { metadata: { name } });
    await this.#create(ServiceAccounts, { metadata: { namespace: workspace, name: 'tok-account' } });
    const create = { apiGroups: ['fleet.cattle.io'], resources: ['clusterregistrations'], verbs: ['create'] };
    await this.#allow(workspace, 'tok-account', [create], { namespace: workspace, name: 'tok-account' });
    const account = { namespace: workspace, name: 'tok-account' };
    this.#bootstrapToken = (await this.client.createToken(account, { expirationSeconds: 3600 })).token;
  }

  async #allow(
    namespace: string,
    name: string,
    rules: PolicyRule[],
    subject: { namespace: string; name: string },
  ): Promise<void> {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name } as const;
    await this.#create(Roles, { metadata: { namespace, name }, rules });
    await this.#create(RoleBindings, {
      metadata: { namespace, name },
      roleRef,
      subjects: [{ kind: 'ServiceAccount', ...subject }],
    });
  }

  /** Creates an object unless it is there. */
  async #create(type: { kind: string; group: string; version: string }, body: object): Promise<void> {
    const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
    try {
      await this.client.create(type as never, { apiVersion, kind: type.kind, ...body } as never);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}
