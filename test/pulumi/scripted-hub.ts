/**
 * Plays the hub's part with an admin's client: answers Clusters and tokens the way a script says, so that a test can hold
 * any stage for as long as it wants to look at it. The real hub is used wherever nothing has to be held.
 */
import type { Condition } from '../../api/conditions.ts';
import { apiVersion, finalizers, secretKeys, secretTypes } from '../../api/fleet/constants.ts';
import { clusterNamespace } from '../../api/fleet/names.ts';
import { formatValues } from '../../api/fleet/bootstrap-values.ts';
import { ClusterGroups, Clusters, ClusterRegistrationTokens } from '../../api/fleet/kinds.ts';
import type {
  Cluster,
  ClusterGroup,
  ClusterGroupStatus,
  ClusterRegistrationToken,
  ClusterStatus,
} from '../../api/fleet/kinds.ts';
import { RegistrationRules } from '../../api/muster/kinds.ts';
import type { RegistrationRule, RegistrationRuleStatus } from '../../api/muster/kinds.ts';
import { parseGoDuration } from '../../api/duration.ts';
import { CustomResourceDefinitions } from '../../api/kubernetes/workloads.ts';
import { Namespaces, Secrets } from '../../api/kubernetes/core.ts';
import type { ResourceType } from '../../api/resource.ts';
import { synthCrds } from '../../components/fleet/index.ts';
import { awaitDefinitions } from '../../provider/handlers/hub-definitions.ts';
import { isNotFound } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { followObjects } from './follow-objects.ts';

const fieldManager = 'scripted-hub';

/** What the hub makes of each object; change it while it runs. */
export interface Script {
  /** Status for a Cluster; undefined: leave it alone. */
  cluster: (cluster: Cluster) => ClusterStatus | undefined;
  /** Whether tokens are answered. */
  tokens: boolean;
  /** Status for a ClusterGroup; undefined: leave it alone. */
  group: (group: ClusterGroup) => ClusterGroupStatus | undefined;
  /** Status for a RegistrationRule; undefined: leave it alone. */
  rule: (rule: RegistrationRule) => RegistrationRuleStatus | undefined;
  /** Whether deleted Clusters are let go. */
  release: boolean;
}

/** The status of a Cluster whose registration is complete. */
export function readyStatus(cluster: Cluster): ClusterStatus {
  const conditions: Condition[] = ['Processed', 'Registered', 'AgentReachable', 'Ready'].map((type) => ({
    type,
    status: 'True',
  }));
  return {
    namespace: clusterNamespace(cluster.metadata.namespace ?? '', cluster.metadata.name ?? ''),
    conditions,
    agent: { lastSeen: '2026-01-01T00:00:00Z', namespace: 'cattle-fleet-system' },
    ...(cluster.spec?.redeployAgentGeneration === undefined
      ? {}
      : { agentDeployedGeneration: cluster.spec.redeployAgentGeneration }),
  };
}

/** The status of a rule that has found nothing to register yet. */
export function takenUp({ metadata }: RegistrationRule): RegistrationRuleStatus {
  const observedGeneration = metadata.generation ?? 0;
  const conditions = [{ type: 'Ready', status: 'True', observedGeneration }];
  return { matched: 0, registered: 0, failed: 0, observedGeneration, conditions };
}

/** A hub that runs until it is closed. */
export class ScriptedHub {
  readonly script: Script = {
    cluster: readyStatus,
    tokens: true,
    group: () => ({ clusterCount: 0, nonReadyClusterCount: 0 }),
    rule: takenUp,
    release: true,
  };
  /** Every token that it has issued: secrets that must not be found in clear anywhere. */
  readonly issued: string[] = [];
  readonly #client: KubeClient;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  private constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Defines the kinds, makes the workspace, and starts to answer. */
  static async start(client: KubeClient): Promise<ScriptedHub> {
    const hub = new ScriptedHub(client);
    const definitions = synthCrds();
    for (const object of definitions) await client.apply(CustomResourceDefinitions, object as never, { fieldManager });
    await awaitDefinitions(client, definitions, { signal: AbortSignal.timeout(30_000) });
    const workspace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fleet-default' } };
    await client.apply(Namespaces, workspace, { fieldManager });
    const { signal } = hub.#stop;
    hub.#running = Promise.all([
      followObjects(client, Clusters, (cluster) => hub.#cluster(cluster), signal),
      followObjects(client, ClusterRegistrationTokens, (token) => hub.#token(token), signal),
      followObjects(client, ClusterGroups, (group) => hub.#group(group), signal),
      followObjects(client, RegistrationRules, (rule) => hub.#rule(rule), signal),
    ]);
    return hub;
  }

  /** Looks at every Cluster again: after a change of the script. */
  async again(): Promise<void> {
    for (const cluster of (await this.#client.list(Clusters)).items) await this.#cluster(cluster);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #cluster(cluster: Cluster): Promise<void> {
    const { name = '', namespace = '' } = cluster.metadata;
    const key = { name, namespace };
    if (cluster.metadata.deletionTimestamp !== undefined) {
      if (this.script.release) await this.#merge(Clusters, key, { metadata: { finalizers: null } });
      return;
    }
    if (!cluster.metadata.finalizers?.includes(finalizers.cluster)) {
      await this.#merge(Clusters, key, { metadata: { finalizers: [finalizers.cluster] } });
    }
    const status = this.script.cluster(cluster);
    if (status === undefined || JSON.stringify(status) === JSON.stringify(cluster.status)) return;
    const object: Cluster = { apiVersion, kind: 'Cluster', metadata: key, status };
    await this.#client.apply(Clusters, object, { fieldManager, subresource: 'status' }).catch(ignoreNotFound);
  }

  async #group(group: ClusterGroup): Promise<void> {
    const { name = '', namespace = '', deletionTimestamp } = group.metadata;
    const status = deletionTimestamp === undefined ? this.script.group(group) : undefined;
    if (status === undefined || JSON.stringify(status) === JSON.stringify(group.status)) return;
    const object: ClusterGroup = { apiVersion, kind: 'ClusterGroup', metadata: { name, namespace }, status };
    await this.#client.apply(ClusterGroups, object, { fieldManager, subresource: 'status' }).catch(ignoreNotFound);
  }

  async #rule(rule: RegistrationRule): Promise<void> {
    const { name = '', deletionTimestamp } = rule.metadata;
    const status = deletionTimestamp === undefined ? this.script.rule(rule) : undefined;
    if (status === undefined || JSON.stringify(status) === JSON.stringify(rule.status)) return;
    const object = { apiVersion: rule.apiVersion, kind: rule.kind, metadata: { name }, status };
    await this.#client
      .apply(RegistrationRules, object as RegistrationRule, { fieldManager, subresource: 'status' })
      .catch(ignoreNotFound);
  }

  async #token(token: ClusterRegistrationToken): Promise<void> {
    const { name = '', namespace = '', creationTimestamp = '' } = token.metadata;
    if (!this.script.tokens || token.metadata.deletionTimestamp !== undefined) return;
    const ttl = token.spec?.ttl ? parseGoDuration(token.spec.ttl) : 0;
    const expires = ttl === 0 ? {} : { expires: new Date(Date.parse(creationTimestamp) + ttl).toISOString() };
    if (token.status?.secretName === name && token.status.expires === expires.expires) return;
    const secret = `token-of-${name}-${token.metadata.uid ?? ''}`;
    this.issued.push(secret);
    const values = formatValues({
      clusterNamespace: namespace,
      apiServerURL: this.#client.server,
      apiServerCA: '',
      token: secret,
      tokenName: name,
      systemRegistrationNamespace: 'cattle-fleet-clusters-system',
    });
    const owner = { apiVersion, kind: 'ClusterRegistrationToken', name, uid: token.metadata.uid ?? '' };
    await this.#client.apply(
      Secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace, ownerReferences: [owner] },
        type: secretTypes.registrationValues,
        data: { [secretKeys.values]: Buffer.from(values).toString('base64') },
      },
      { fieldManager },
    );
    const status = { secretName: name, ...expires, conditions: [{ type: 'Issued', status: 'True' }] };
    const object: ClusterRegistrationToken = {
      apiVersion,
      kind: 'ClusterRegistrationToken',
      metadata: { name, namespace },
      status,
    };
    await this.#client
      .apply(ClusterRegistrationTokens, object, { fieldManager, subresource: 'status' })
      .catch(ignoreNotFound);
  }

  async #merge(type: ResourceType, key: { name: string; namespace: string }, patch: object): Promise<void> {
    await this.#client.patch(type, key, patch, { type: 'merge' }).catch(ignoreNotFound);
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
