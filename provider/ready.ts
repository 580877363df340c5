/** When a Cluster is ready, and which stage holds it up when it is not. */
import { conditionTypes, findCondition, isTrue, reasons } from '../api/conditions.ts';
import type { Condition } from '../api/conditions.ts';
import { labels } from '../api/fleet/constants.ts';
import { agentBundleName } from '../api/fleet/names.ts';
import type { Cluster } from '../api/fleet/kinds.ts';

/** Stages in the order in which a registration passes them. */
const stages = [
  conditionTypes.processed,
  conditionTypes.imported,
  conditionTypes.registered,
  conditionTypes.online,
  conditionTypes.reconciled,
  conditionTypes.ready,
] as const;

/** Reasons that no waiting cures: the user has to change something. */
const final: ReadonlySet<string> = new Set([
  reasons.invalidSpec,
  reasons.clientIdMismatch,
  reasons.nameTaken,
  reasons.selfRegistration,
  reasons.kubeconfigNamespaceRefused,
  reasons.kubeconfigInvalid,
  reasons.kubeconfigRefused,
  reasons.hubAddressMissing,
  reasons.notKubernetes,
]);

/** Whether the agent has ever reported. Fleet writes the year 1 for never. */
export function hasReported({ status }: Cluster): boolean {
  return Date.parse(status?.agent?.lastSeen ?? '') > 0;
}

/** Registered, heard from, ready, and (re)installed as often as asked. */
export function isReady(cluster: Cluster): boolean {
  const { status, spec } = cluster;
  if (!hasReported(cluster) || !isTrue(status?.conditions, conditionTypes.ready)) return false;
  const stale = [conditionTypes.registered, conditionTypes.online].some(
    (type) => findCondition(status?.conditions, type)?.status === 'False',
  );
  const wanted = spec?.redeployAgentGeneration;
  return !stale && (wanted === undefined || status?.agentDeployedGeneration === wanted || !spec?.kubeConfigSecret);
}

/** The first stage that is not passed. */
export function stuckStage(cluster: Cluster): Condition | undefined {
  for (const type of stages) {
    const condition = findCondition(cluster.status?.conditions, type);
    if (condition !== undefined && condition.status !== 'True') return condition;
  }
  return undefined;
}

/** Whether the first stage not passed names something that only the user can change. */
export function isHopeless(cluster: Cluster): boolean {
  const stage = stuckStage(cluster);
  return stage?.status === 'False' && final.has(stage.reason ?? '');
}

/** `Imported is False (ClusterUnreachable): connection refused`, or what else is known. */
export function whyNotReady(cluster: Cluster | undefined): string {
  if (cluster === undefined) return 'the object is gone from the hub';
  const stage = stuckStage(cluster);
  if (stage !== undefined) return describeCondition(stage) + (waitsForFleetAgent(cluster, stage) ? otherAgentHint : '');
  if (!cluster.status?.conditions?.length) return describeCondition(undefined);
  if (!hasReported(cluster)) return 'its agent has not reported yet';
  return 'the hub does not call it Ready yet';
}

const otherAgentHint =
  `. The hub of Fleet waits for an agent of its own here; for another one give the Cluster the label ` +
  `${labels.nonManagedAgent}=true`;

/** Fleet rolls its agent out as one more bundle, which no other agent takes. */
function waitsForFleetAgent({ metadata, status }: Cluster, stage: Condition): boolean {
  if (stage.type !== conditionTypes.ready || metadata.labels?.[labels.nonManagedAgent] === 'true') return false;
  const isOurs = findCondition(status?.conditions, conditionTypes.registered) !== undefined;
  return !isOurs && (stage.message ?? '').includes(agentBundleName(metadata.name ?? ''));
}

export function describeCondition(condition: Condition | undefined): string {
  if (condition === undefined) return 'no hub has taken it up: it has no condition. Is the hub running?';
  const { type, status, reason, message } = condition;
  return `${type} is ${status}${reason ? ` (${reason})` : ''}${message ? `: ${message}` : ''}`;
}
