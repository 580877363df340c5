/**
 * Plays the part of nodes: every Deployment is reported as running, unless it is held. For planes without
 * deployment-controller (which would report the truth: there is no node).
 */
import { Deployments } from '../../api/kubernetes/workloads.ts';
import type { Deployment } from '../../api/kubernetes/workloads.ts';
import { isNotFound } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { followObjects } from './follow-objects.ts';

/** Argument for ControlPlane.start that leaves Deployments to this. */
export const withoutDeployments = ['--controllers=*,-deployment-controller'] as const;

const fieldManager = 'scripted-workloads';

/** As the deployment-controller says it of a finished rollout; some readers look only here. */
const conditions = [
  { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
  { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
];

/** Runs until it is closed. */
export class ScriptedWorkloads {
  /** Names of Deployments that never become available. */
  readonly held = new Set<string>();
  readonly #client: KubeClient;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(client: KubeClient) {
    this.#client = client;
    this.#running = followObjects(client, Deployments, (deployment) => this.#answer(deployment), this.#stop.signal);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #answer({ metadata, spec, status }: Deployment): Promise<void> {
    const { name = '', namespace = '', generation = 1 } = metadata;
    // Foreground deletion waits for pods; there are none, and the garbage collector lets it go.
    if (metadata.deletionTimestamp !== undefined || this.held.has(name)) return;
    if (status?.observedGeneration === generation) return;
    const replicas = spec.replicas ?? 1;
    const running = { replicas, readyReplicas: replicas, updatedReplicas: replicas, availableReplicas: replicas };
    const object = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace },
      status: { observedGeneration: generation, ...running, conditions },
    };
    await this.#client
      .apply(Deployments, object as unknown as Deployment, { fieldManager, subresource: 'status' })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }
}
