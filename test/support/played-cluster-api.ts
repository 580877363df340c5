/** Plays the controllers of Cluster API on a real API server: clusters come, get ready, are paused, rotated, torn down. */
import type { ClusterAPICluster } from '../../api/cluster-api/cluster.ts';
import { ClusterAPIClusters } from '../../api/cluster-api/cluster.ts';
import { Namespaces, Secrets } from '../../api/kubernetes/core.ts';
import type { CustomResourceDefinition } from '../../api/kubernetes/workloads.ts';
import { CustomResourceDefinitions } from '../../api/kubernetes/workloads.ts';
import { RegistrationRules } from '../../api/muster/kinds.ts';
import type { RegistrationRule, RegistrationRuleSpec } from '../../api/muster/kinds.ts';
import type { ResourceType } from '../../api/resource.ts';
import { isNotFound } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { poll } from '../harness/index.ts';

/** Cluster API: its own finalizer on a Cluster. */
export const clusterAPIFinalizer = 'cluster.cluster.x-k8s.io';

export interface PlayedCluster {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly className?: string;
  readonly version?: string;
}

export class PlayedClusterAPI {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly type: ResourceType<ClusterAPICluster>;
  readonly #isNew: boolean;

  /** `version` is that in which the controllers write. */
  constructor(client: KubeClient, namespace: string, version: 'v1beta1' | 'v1beta2' = 'v1beta2') {
    this.client = client;
    this.namespace = namespace;
    this.#isNew = version === 'v1beta2';
    this.type = ClusterAPIClusters.find((type) => type.version === version) ?? (ClusterAPIClusters[0] as never);
  }

  /** The object alone, as a user applies it. */
  async create(
    name: string,
    { labels, annotations, className, version = 'v1.34.1' }: PlayedCluster = {},
  ): Promise<void> {
    const built = this.#isNew ? { classRef: { name: className ?? '' } } : { class: className ?? '' };
    await this.client.create(this.type, {
      apiVersion: '',
      kind: '',
      metadata: {
        name,
        namespace: this.namespace,
        finalizers: [clusterAPIFinalizer],
        ...(labels ? { labels } : {}),
        ...(annotations ? { annotations } : {}),
      },
      spec: className === undefined ? {} : { topology: { ...built, version } },
    });
  }

  /** Its kubeconfig, as the control plane provider writes it, and writes it again when it rotates. */
  async kubeconfig(name: string, kubeconfig: string): Promise<void> {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'cluster.x-k8s.io/secret',
      metadata: {
        name: `${name}-kubeconfig`,
        namespace: this.namespace,
        labels: { 'cluster.x-k8s.io/cluster-name': name },
      },
      stringData: { value: kubeconfig },
    };
    await this.client.apply(Secrets, secret, { fieldManager: 'cluster-api' });
  }

  async ready(name: string): Promise<void> {
    const status = this.#isNew
      ? { phase: 'Provisioned', initialization: { controlPlaneInitialized: true } }
      : {
          phase: 'Provisioned',
          controlPlaneReady: true,
          conditions: [{ type: 'ControlPlaneInitialized', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
        };
    await this.patch(name, { status }, 'status');
  }

  /** Created, with a kubeconfig, and ready. */
  async provision(name: string, kubeconfig: string, options: PlayedCluster = {}): Promise<void> {
    await this.create(name, options);
    await this.kubeconfig(name, kubeconfig);
    await this.ready(name);
  }

  async patch(name: string, patch: object, subresource?: 'status'): Promise<void> {
    const options = { type: 'merge', ...(subresource ? { subresource } : {}) } as const;
    await this.client.patch(this.type, { namespace: this.namespace, name }, patch, options);
  }

  async find(name: string): Promise<ClusterAPICluster | undefined> {
    return await this.client.find(this.type, { namespace: this.namespace, name });
  }

  /** A user deletes it; nothing more happens until {@link tearDown}. */
  async delete(name: string): Promise<void> {
    await this.client.delete(this.type, { namespace: this.namespace, name });
  }

  /** What the controllers do then: machines and Secret go, and their own finalizer. */
  async tearDown(name: string): Promise<void> {
    await this.client.delete(Secrets, { namespace: this.namespace, name: `${name}-kubeconfig` });
    for (;;) {
      const cluster = await this.find(name);
      if (cluster === undefined) return;
      const finalizers = (cluster.metadata.finalizers ?? []).filter((each) => each !== clusterAPIFinalizer);
      try {
        await this.patch(name, { metadata: { resourceVersion: cluster.metadata.resourceVersion, finalizers } });
        return;
      } catch (error) {
        // the hub changes its finalizer at the same time
        if (isNotFound(error)) return;
        if (!(error as { status?: number }).status) throw error;
      }
    }
  }

  /** Resolves when the object is gone. */
  async gone(name: string, limitMs = 60_000): Promise<void> {
    const isGone = async (): Promise<true | undefined> => ((await this.find(name)) === undefined ? true : undefined);
    await poll(isGone, { what: `${name} to be gone`, limitMs });
  }
}

/** Installs a definition and waits until its kind can be used. */
export async function installDefinition(client: KubeClient, definition: CustomResourceDefinition): Promise<void> {
  await client.apply(CustomResourceDefinitions, definition, { fieldManager: 'test' });
  const established = async (): Promise<true | undefined> => {
    const found = await client.get(CustomResourceDefinitions, { name: definition.metadata.name ?? '' });
    return found.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')
      ? true
      : undefined;
  };
  await poll(established, { what: `${definition.metadata.name ?? ''} to be established` });
}

export async function createNamespace(client: KubeClient, name: string, labels: Record<string, string>): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
  await client.apply(Namespaces, namespace, { fieldManager: 'test' });
}

export async function createRule(
  client: KubeClient,
  name: string,
  spec: Partial<RegistrationRuleSpec>,
): Promise<RegistrationRule> {
  return await client.create(RegistrationRules, {
    apiVersion: 'muster.dev/v1alpha1',
    kind: 'RegistrationRule',
    metadata: { name },
    spec: { source: { clusterAPI: {} }, ...spec },
  });
}

/** Waits until `look` likes a rule. */
export async function ruleThat(
  client: KubeClient,
  name: string,
  look: (rule: RegistrationRule) => boolean,
  what: string,
  limitMs = 60_000,
): Promise<RegistrationRule> {
  let seen: RegistrationRule | undefined;
  const liked = async (): Promise<RegistrationRule | undefined> => {
    seen = await client.find(RegistrationRules, { name });
    return seen !== undefined && look(seen) ? seen : undefined;
  };
  try {
    return await poll(liked, { what: `rule ${name}: ${what}`, limitMs });
  } catch (error) {
    throw new Error(`${(error as Error).message}; it says ${JSON.stringify(seen?.status)}`, { cause: error });
  }
}
