/** What a Cluster's status says, computed from what the hub knows. Pure. */
import type { Condition } from '../../../api/conditions.ts';
import { conditionTypes, reasons, removeCondition, setCondition } from '../../../api/conditions.ts';
import type { Cluster, ClusterStatus } from '../../../api/fleet/kinds.ts';
import { formatTime } from '../../../api/time.ts';
import type { Liveness } from '../../registration/liveness.ts';

/** What the status is computed from. */
export interface ClusterView {
  /** Name of the cluster namespace once it is there, else why it is not. */
  readonly namespace: string | { readonly reason: string; readonly message: string };
  readonly registration:
    | { readonly state: 'granted' }
    | { readonly state: 'waiting' | 'refused'; readonly reason: string; readonly message: string };
  readonly liveness: Liveness;
  /** Why the agent does not run downstream, where the hub could look. */
  readonly trouble?: string | undefined;
  /** Names of requests of other agents for this cluster, which wait because its own agent reports. */
  readonly claims?: readonly string[];
}

/** States of `status.display.state` while no bundle says anything worse. `WaitCheckIn` and `Ready` are Fleet's. */
export const displayStates = { waitCheckIn: 'WaitCheckIn', ready: 'Ready', offline: 'Offline' } as const;

/** The status that follows from `view`; fields of others, and of the agent, stay as they are. */
export function clusterStatus(cluster: Cluster, view: ClusterView, now: Date): ClusterStatus {
  const status = cluster.status ?? {};
  const online = onlineCondition(view);
  let conditions = (status.conditions ?? []) as Condition[];
  for (const condition of [processedCondition(view), registeredCondition(view), online, readyCondition(view, online)]) {
    conditions = setCondition(conditions, condition, now);
  }
  conditions = contested(conditions, view.claims ?? [], now);
  const state = displayState(view.liveness);
  return {
    ...status,
    ...(typeof view.namespace === 'string' ? { namespace: view.namespace } : {}),
    conditions: conditions as NonNullable<ClusterStatus['conditions']>,
    display: { readyBundles: '0/0', ...status.display, state },
  };
}

/** Only there while somebody claims the cluster: a condition that is usually absent is what people look at. */
function contested(conditions: Condition[], claims: readonly string[], now: Date): Condition[] {
  const type = conditionTypes.contested;
  if (claims.length === 0) return removeCondition(conditions, type);
  const message =
    `another agent with this clientID asks to be registered (${claims.join(', ')}) while the agent of this cluster ` +
    'reports; if that is meant, annotate the Cluster with muster.dev/registration-locked: "false"';
  return setCondition(conditions, { type, status: 'True', reason: reasons.identityInUse, message }, now);
}

function processedCondition({ namespace }: ClusterView): Condition {
  const type = conditionTypes.processed;
  if (typeof namespace === 'string') return { type, status: 'True', reason: reasons.done };
  return { type, status: 'False', ...namespace };
}

function registeredCondition({ registration, trouble }: ClusterView): Condition {
  const type = conditionTypes.registered;
  if (registration.state === 'granted') return { type, status: 'True', reason: reasons.done };
  const { reason, message, state } = registration;
  if (state === 'refused' || trouble === undefined) return { type, status: 'False', reason, message };
  return { type, status: 'False', reason: reasons.agentNotRunning, message: `${message}; ${trouble}` };
}

function onlineCondition({ liveness, registration, trouble }: ClusterView): Condition {
  const type = conditionTypes.online;
  switch (liveness.state) {
    case 'never': {
      const granted = registration.state === 'granted';
      const message = granted ? 'registered; the agent has not reported yet' : 'the agent has not registered yet';
      if (trouble !== undefined) {
        return { type, status: 'Unknown', reason: reasons.agentNotRunning, message: `${message}; ${trouble}` };
      }
      const reason = granted ? reasons.waitingForHeartbeat : reasons.waitingForAgent;
      return { type, status: 'Unknown', reason, message };
    }
    case 'online':
      return { type, status: 'True', reason: reasons.checkedIn };
    case 'offline': {
      const since = formatTime(liveness.sinceMs);
      const message = `the agent has not reported since ${since}; ${trouble ?? 'see its pod in the downstream cluster'}`;
      return { type, status: 'False', reason: reasons.heartbeatOverdue, message };
    }
  }
}

/** Nothing is delivered yet, so a cluster is as ready as its agent is there. */
function readyCondition(view: ClusterView, online: Condition): Condition {
  const type = conditionTypes.ready;
  if (typeof view.namespace !== 'string') return { type, status: 'False', ...view.namespace };
  if (online.status === 'True') return { type, status: 'True', reason: reasons.done };
  const { reason, message } = view.registration.state === 'refused' ? view.registration : online;
  return { type, status: 'False', reason, message };
}

function displayState(liveness: Liveness): string {
  if (liveness.state === 'never') return displayStates.waitCheckIn;
  return liveness.state === 'online' ? displayStates.ready : displayStates.offline;
}
