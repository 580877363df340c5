/** The status that the runner writes for a pod, from the states of its containers. */
import type { Pod } from '../../../api/kubernetes/core.ts';
import type { ContainerRunner } from './container-runner.ts';

/** What the phase depends on. */
export interface PodProgress {
  readonly init: readonly ContainerRunner[];
  readonly containers: readonly ContainerRunner[];
  /** All init containers have succeeded. */
  readonly initialized: boolean;
  /** Set once every container has ended for good. */
  readonly outcome: 'Succeeded' | 'Failed' | undefined;
  readonly address: string;
  readonly startTime: string;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** The whole status; conditions keep the time of their last change from `previous`. */
export function podStatus(
  progress: PodProgress,
  pod: Pod,
  previous: readonly Condition[] = [],
): Record<string, unknown> {
  const images = new Map<string, string>();
  const spec = pod.spec as {
    containers?: { name: string; image: string }[];
    initContainers?: { name: string; image: string }[];
  };
  for (const { name, image } of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) images.set(name, image);
  const statuses = (runners: readonly ContainerRunner[]): unknown[] =>
    runners.map((runner) => ({
      name: runner.name,
      image: images.get(runner.name),
      imageID: images.get(runner.name),
      state: runner.state,
      lastState: runner.lastState ?? {},
      restartCount: runner.restartCount,
      ready: runner.ready,
      started: runner.started,
    }));
  const unready = progress.containers.filter(({ ready }) => !ready).map(({ name }) => name);
  const readiness =
    progress.outcome === 'Succeeded'
      ? { reason: 'PodCompleted' }
      : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
  const ready = unready.length === 0 && progress.outcome === undefined;
  const condition = (type: string, is: boolean, why: object = {}): Condition => {
    const status = is ? 'True' : 'False';
    const before = previous.find((known) => known.type === type && known.status === status);
    const lastTransitionTime = before?.lastTransitionTime ?? new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    return { type, status, lastTransitionTime, ...(is ? {} : why) };
  };
  return {
    phase: progress.outcome ?? (progress.containers.some(hasRun) ? 'Running' : 'Pending'),
    hostIP: progress.address,
    podIP: progress.address,
    podIPs: [{ ip: progress.address }],
    startTime: progress.startTime,
    conditions: [
      condition('PodScheduled', true),
      condition('PodReadyToStartContainers', progress.outcome === undefined),
      condition('Initialized', progress.initialized, { reason: 'ContainersNotInitialized' }),
      condition('ContainersReady', ready, readiness),
      condition('Ready', ready, readiness),
    ],
    initContainerStatuses: statuses(progress.init),
    containerStatuses: statuses(progress.containers),
  };
}

function hasRun(runner: ContainerRunner): boolean {
  return runner.restartCount > 0 || runner.lastState !== undefined || !('waiting' in runner.state);
}
