/** What a ClusterProfile says of a Cluster. Pure. */
import type { Condition } from '../../../api/conditions.ts';
import { conditionTypes, findCondition, reasons } from '../../../api/conditions.ts';
import { annotations, labels as fleetLabels, managedByMuster } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import {
  accessProviders,
  apiVersion,
  clusterManager,
  conditionTypes as profileConditions,
  labels,
  properties,
} from '../../../api/multicluster/constants.ts';
import type {
  AccessProvider,
  ClusterProfile,
  ClusterProfileStatus,
  ClusterProperty,
  ProfileCondition,
} from '../../../api/multicluster/kinds.ts';
import { formatTime } from '../../../api/time.ts';
import { ownerReference } from '../../kube/owner.ts';
import { passedLabels } from './passed-labels.ts';

/** What a profile is computed from. */
export interface ProfileView {
  readonly cluster: Cluster;
  /** ClusterSet of the workspace, by the label that SIG Multicluster defines for namespaces. */
  readonly clusterSet: string | undefined;
  /** Ways to connect, of those that the hub answers for. */
  readonly providers: readonly AccessProvider[];
}

/** On a profile: keys of the labels that were passed on to it, so that they can be taken away again. */
export const passedAnnotation = 'muster.dev/passed-labels';

/** The profile without its status. */
export function wantedProfile({ cluster }: ProfileView): ClusterProfile {
  const { name = '', namespace = '' } = cluster.metadata;
  const passed = passedLabels(cluster.metadata.labels);
  return {
    apiVersion,
    kind: 'ClusterProfile',
    metadata: {
      name,
      namespace,
      labels: { ...passed, [labels.clusterManager]: clusterManager, [fleetLabels.managedBy]: managedByMuster },
      annotations: { [passedAnnotation]: Object.keys(passed).sort().join(',') },
      ownerReferences: [ownerReference(Clusters, cluster)],
    },
    spec: { displayName: displayName(cluster), clusterManager: { name: clusterManager } },
  };
}

function displayName({ metadata }: Cluster): string {
  const key = annotations.displayName;
  return metadata.annotations?.[key] || metadata.labels?.[key] || (metadata.name ?? '');
}

/** The status that follows; conditions, properties and providers of others stay as they are. */
export function wantedStatus(
  before: ClusterProfileStatus | undefined,
  view: ProfileView,
  now: Date,
): ClusterProfileStatus {
  const kubernetes = view.cluster.status?.agent?.kubernetesVersion;
  const { version: _, conditions, properties: facts, accessProviders: access, ...rest } = before ?? {};
  const told = wantedConditions(conditions ?? [], view, now);
  return {
    ...rest,
    ...(kubernetes ? { version: { kubernetes } } : {}),
    ...filled('conditions', replaceNamed(conditions, told, 'type', Object.values(profileConditions))),
    ...filled('properties', replaceNamed(facts, wantedProperties(view), 'name', Object.values(properties))),
    ...filled('accessProviders', replaceNamed(access, view.providers, 'name', Object.values(accessProviders))),
  };
}

/** An empty list is left out, as API servers do. */
function filled<Key extends string, T>(key: Key, list: T[]): { readonly [K in Key]?: T[] } {
  return (list.length === 0 ? {} : { [key]: list }) as { readonly [K in Key]?: T[] };
}

/** Ours first, then what others have put there under names that are not ours. */
function replaceNamed<Key extends string, T extends Readonly<Record<Key, string>>>(
  before: readonly T[] | undefined,
  wanted: readonly T[],
  key: Key,
  ours: readonly string[],
): T[] {
  return [...wanted, ...(before ?? []).filter((item) => !ours.includes(item[key]))];
}

function wantedConditions(before: readonly ProfileCondition[], view: ProfileView, now: Date): ProfileCondition[] {
  const conditions = view.cluster.status?.conditions;
  const registered = findCondition(conditions, conditionTypes.registered);
  const reachable = findCondition(conditions, conditionTypes.online);
  return [
    // an agent that reports has just used its API server; of one that is silent nobody knows how its cluster is
    profileCondition(profileConditions.controlPlaneHealthy, reachable, {
      status: reachable?.status === 'True' ? 'True' : 'Unknown',
      message: 'the agent of the cluster reports',
    }),
    profileCondition(profileConditions.joined, registered, {
      status: registered?.status === 'True' ? 'True' : 'False',
      message: 'the cluster is registered',
    }),
  ].map((condition) => keepTime(condition, before, now));
}

type Untimed = Omit<ProfileCondition, 'lastTransitionTime'> & { readonly lastTransitionTime: string | undefined };

function profileCondition(
  type: string,
  source: Condition | undefined,
  { status, message }: { readonly status: ProfileCondition['status']; readonly message: string },
): Untimed {
  return {
    type,
    status,
    reason: source?.reason || reasons.pending,
    message: source?.message || (status === 'True' ? message : 'not known yet'),
    lastTransitionTime: source?.lastTransitionTime,
  };
}

/** Its time moves with the status only, and never without need: a profile at rest is not written. */
function keepTime(
  { lastTransitionTime, ...condition }: Untimed,
  before: readonly ProfileCondition[],
  now: Date,
): ProfileCondition {
  const previous = before.find(({ type }) => type === condition.type);
  const known = lastTransitionTime !== undefined && Number.isFinite(Date.parse(lastTransitionTime));
  const time = known ? lastTransitionTime : formatTime(now);
  return {
    ...condition,
    lastTransitionTime: previous?.status === condition.status ? previous.lastTransitionTime : time,
  };
}

function wantedProperties({ cluster, clusterSet }: ProfileView): ClusterProperty[] {
  const { name = '', labels: own = {} } = cluster.metadata;
  const set = own[properties.clusterSet] || clusterSet;
  const nodes = cluster.status?.agent?.nodes;
  return [
    // an identity has no meaning outside of a set; within it names of Clusters are unique
    ...(set
      ? [
          { name: properties.clusterId, value: own[properties.clusterId] || name },
          { name: properties.clusterSet, value: set },
        ]
      : []),
    ...(typeof nodes === 'number' ? [{ name: properties.nodes, value: String(nodes) }] : []),
  ];
}
