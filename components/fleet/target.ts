/** Which clusters a GitRepo goes to. */
import { MusterError } from '../../api/errors.ts';
import { given } from '../../api/given.ts';
import type { IHubObject } from './hub-object.ts';

/** Which clusters, by their labels; every part that is given must hold. An empty selector takes all. */
export interface ClusterSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

/** Criteria as on the wire; all that are given must hold, and at least one has to be given. */
export interface TargetProps {
  /** Name of the target, for people and for `targetCustomizations` of a fleet.yaml. Default: none. */
  readonly name?: string;
  /** Name of one Cluster. */
  readonly clusterName?: string;
  /** Clusters by label; `{}` takes all of them. */
  readonly clusterSelector?: ClusterSelector;
  /** Name of one ClusterGroup. */
  readonly clusterGroup?: string;
  /** ClusterGroups by label. */
  readonly clusterGroupSelector?: ClusterSelector;
}

/** A construct that can be a target: a RegisteredCluster or ClusterGroup, made here or referred to. */
export interface ITarget extends IHubObject {
  /** The criteria that select it. */
  readonly target: TargetProps;
}

/** A construct, or criteria. */
export type Target = ITarget | TargetProps;

/**
 * The criteria of a target.
 * @param workspace of the object that has the target: it reaches no other one
 * @throws MusterError INVALID_ARGUMENT for a construct of another workspace and for no criteria at all
 */
export function targetOf(target: Target, workspace: string, where: string): Record<string, unknown> {
  if (isTargetConstruct(target)) {
    if (target.namespace !== workspace)
      throw new MusterError('INVALID_ARGUMENT', `${target.name} is in ${target.namespace}, not in ${workspace}`, {
        where,
        hint: 'Targets are clusters and groups of the same workspace; give both the same namespace.',
      });
    return { ...target.target };
  }
  const { name, ...criteria } = given({ ...target });
  if (Object.keys(criteria).length === 0)
    throw new MusterError('INVALID_ARGUMENT', 'selects nothing', {
      where,
      hint: 'Give a RegisteredCluster, a ClusterGroup, or one of clusterName, clusterGroup, clusterSelector, clusterGroupSelector.',
    });
  return name === undefined ? criteria : { name, ...criteria };
}

function isTargetConstruct(target: Target): target is ITarget {
  return 'target' in target && 'node' in target;
}
