/** Conditions: how an object tells which stage it is in and why. Pure functions over lists. */
import { formatTime } from './time.ts';

/** One condition as it stands in an object. Times are RFC 3339 (UTC); Fleet's kinds carry both of them. */
export interface Condition {
  type: string;
  /** `True`, `False` or `Unknown`. */
  status: string;
  /** A CamelCase word for programs; see {@link reasons}. */
  reason?: string | undefined;
  /** A sentence for people. Never a secret. */
  message?: string | undefined;
  /** metadata.generation that this was computed from. */
  observedGeneration?: number | undefined;
  /** When `status` last changed. */
  lastTransitionTime?: string | undefined;
  /** When anything of it last changed. */
  lastUpdateTime?: string | undefined;
}

/** The condition of `type`, if the list has one. */
export function findCondition(list: readonly Condition[] | null | undefined, type: string): Condition | undefined {
  return list?.find((condition) => condition.type === type);
}

/** True if the condition of `type` has the status True. */
export function isTrue(list: readonly Condition[] | null | undefined, type: string): boolean {
  return findCondition(list, type)?.status === 'True';
}

/**
 * Puts `condition` into the list. Its times are set here: `lastTransitionTime` is kept while the status stays,
 * `lastUpdateTime` moves with any change. Returns the very same array when nothing changed, so that a caller can skip
 * the write by comparing with `===`; else a new array with the condition in its old place, or last.
 */
export function setCondition(
  list: readonly Condition[] | null | undefined,
  condition: Condition,
  now: Date = new Date(),
): Condition[] {
  const conditions = (list ?? []) as Condition[];
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const previous = conditions[index];
  if (previous !== undefined && sameContent(previous, condition)) return conditions;
  const time = formatTime(now);
  const transition = previous?.status === condition.status ? previous.lastTransitionTime : undefined;
  const next: Condition = { ...condition, lastTransitionTime: transition ?? time, lastUpdateTime: time };
  return index < 0 ? [...conditions, next] : conditions.with(index, next);
}

/** The list without the condition of `type`; the very same array when it has none. */
export function removeCondition(list: readonly Condition[] | null | undefined, type: string): Condition[] {
  const conditions = (list ?? []) as Condition[];
  return findCondition(conditions, type) ? conditions.filter((condition) => condition.type !== type) : conditions;
}

function sameContent(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    (a.reason ?? '') === (b.reason ?? '') &&
    (a.message ?? '') === (b.message ?? '') &&
    a.observedGeneration === b.observedGeneration
  );
}

/** Condition types. Those of Fleet keep their meaning there; users and other tools look for them. */
export const conditionTypes = {
  /** Cluster (Fleet): its cluster namespace exists. */
  processed: 'Processed',
  /** Cluster with a kubeconfig (Fleet): the agent's manifest was applied downstream. */
  imported: 'Imported',
  /** Cluster (Fleet): the agent's settings in status are those of spec. */
  reconciled: 'Reconciled',
  /** Cluster: a request was granted and the agent has, or can fetch, its credential. */
  registered: 'Registered',
  /** Cluster: the agent's heartbeat is no older than it should be. */
  online: 'AgentReachable',
  /** Cluster: another agent claims its clientID while its own reports; absent otherwise. */
  contested: 'Contested',
  /** Cluster: why it is not published as a ClusterProfile; absent when it is, or need not be. */
  profilePublished: 'ClusterProfilePublished',
  /** Cluster: Argo CD has a Secret with a credential of its own for it; absent when it should have none. */
  argoCDPublished: 'ArgoCDPublished',
  /** Cluster, bundles (Fleet): everything that it should run, runs. */
  ready: 'Ready',
  /** ClusterRegistration: the policy let the request pass. */
  accepted: 'Accepted',
  /** ClusterRegistration: rights are in place and the credential is published. */
  granted: 'Granted',
  /** ClusterRegistrationToken: its values Secret can be used. */
  issued: 'Issued',
  /** Any: it is being removed; the message tells what is left. */
  detached: 'Detached',
  /** RegistrationRule: other rules select the same sources; absent otherwise. */
  overlapping: 'Overlapping',
  /** BundleDeployment (Fleet). */
  deployed: 'Deployed',
  installed: 'Installed',
  monitored: 'Monitored',
} as const;

/** Reasons: one closed list, so that a program can branch on them and the documents can explain them. */
export const reasons = {
  // progress
  pending: 'Pending',
  done: 'Succeeded',
  waitingForServiceAccountToken: 'WaitingForServiceAccountToken',
  waitingForNamespace: 'WaitingForNamespace',
  waitingForToken: 'WaitingForToken',
  waitingForAgent: 'WaitingForAgent',
  waitingForHeartbeat: 'WaitingForHeartbeat',
  agentNotRunning: 'AgentNotRunning',
  checkedIn: 'CheckedIn',
  heartbeatOverdue: 'HeartbeatOverdue',
  deleting: 'Deleting',
  downstreamCleared: 'DownstreamCleared',
  managedElsewhere: 'ManagedElsewhere',
  // what a user has to act on
  invalidSpec: 'InvalidSpec',
  invalidTtl: 'InvalidTTL',
  ttlRequired: 'TTLRequired',
  expired: 'Expired',
  clientIdMismatch: 'ClientIDMismatch',
  nameTaken: 'NameTaken',
  selfRegistration: 'SelfRegistration',
  superseded: 'Superseded',
  ambiguousIdentity: 'AmbiguousClientID',
  identityInUse: 'ClientIDInUse',
  tokenUsed: 'TokenUsed',
  locked: 'RegistrationLocked',
  wrongToken: 'WrongToken',
  namespaceTaken: 'NamespaceTaken',
  rightsMissing: 'RightsMissing',
  edgeNotCleaned: 'EdgeNotCleaned',
  credentialRevoked: 'CredentialRevoked',
  kubeconfigSecretMissing: 'KubeconfigSecretMissing',
  kubeconfigNamespaceRefused: 'KubeconfigNamespaceRefused',
  kubeconfigInvalid: 'KubeconfigInvalid',
  kubeconfigRefused: 'KubeconfigRefused',
  hubAddressMissing: 'HubAddressMissing',
  noKubeconfig: 'NoKubeconfig',
  ownCluster: 'OwnCluster',
  clusterUnreachable: 'ClusterUnreachable',
  clusterUntrusted: 'ClusterUntrusted',
  clusterUnauthorized: 'ClusterUnauthorized',
  clusterForbidden: 'ClusterForbidden',
  notKubernetes: 'NotKubernetes',
  timedOut: 'TimedOut',
  // rules and their sources
  sourceKindMissing: 'SourceKindMissing',
  namespaceNotOpen: 'NamespaceNotOpen',
  workspaceNotOpen: 'WorkspaceNotOpen',
  invalidName: 'InvalidName',
  rulesOverlap: 'RulesOverlap',
  suspended: 'Suspended',
  sourcePaused: 'SourcePaused',
  waitingForControlPlane: 'WaitingForControlPlane',
  accessProviderMissing: 'AccessProviderMissing',
  accessProviderRefused: 'AccessProviderRefused',
  detachOverdue: 'DetachOverdue',
  error: 'Error',
} as const;

export type Reason = (typeof reasons)[keyof typeof reasons];
