/** Construct of a ClusterGroup. */
import type { Construct } from 'constructs';
import { clusterGroupSpec } from '../../api/fleet/cluster-group.ts';
import type { KubeObject } from '../../api/resource.ts';
import { validate } from '../../api/validate.ts';
import { HubObject } from './hub-object.ts';
import type { HubObjectProps } from './hub-object.ts';
import { ChartOf, synthesize } from './synthesize.ts';

/** Which clusters, by their labels; every part that is given must hold. An empty selector takes all. */
export interface ClusterSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

/** Props of {@link ClusterGroup}. */
export interface ClusterGroupProps extends HubObjectProps {
  readonly selector: ClusterSelector;
}

/** Clusters of one workspace that are addressed together, and counted. Throws INVALID_ARGUMENT. */
export class ClusterGroup extends HubObject {
  constructor(scope: Construct, id: string, props: ClusterGroupProps) {
    const spec = { selector: props.selector };
    validate(clusterGroupSpec, spec, 'ClusterGroup');
    super(scope, id, 'ClusterGroup', props, spec);
  }
}

/** The group as an object. Throws INVALID_ARGUMENT. */
export function synthClusterGroup(props: ClusterGroupProps): KubeObject[] {
  return synthesize((app) => new ChartOf(app, (chart) => new ClusterGroup(chart, 'group', props)));
}
