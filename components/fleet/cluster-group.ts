/** Construct of a ClusterGroup. */
import type { Construct } from 'constructs';
import { clusterGroupSpec } from '../../api/fleet/cluster-group.ts';
import type { KubeObject } from '../../api/resource.ts';
import { validate } from '../../api/validate.ts';
import { HubObject, ReferencedObject } from './hub-object.ts';
import type { HubObjectProps, ReferenceOptions } from './hub-object.ts';
import { synthesizeOne } from './synthesize.ts';
import type { ClusterSelector, ITarget, TargetProps } from './target.ts';

/** Props of {@link ClusterGroup}. */
export interface ClusterGroupProps extends HubObjectProps {
  readonly selector: ClusterSelector;
}

/** A ClusterGroup made here or elsewhere. */
export type IClusterGroup = ITarget;

/** Clusters of one workspace that are addressed together, and counted. Throws INVALID_ARGUMENT. */
export class ClusterGroup extends HubObject implements IClusterGroup {
  /** A group that exists already. Throws INVALID_ARGUMENT. */
  static fromClusterGroupName(
    scope: Construct,
    id: string,
    name: string,
    options: ReferenceOptions = {},
  ): IClusterGroup {
    return new ReferencedGroup(scope, id, name, options);
  }

  /** A group of the clusters that carry all of these labels; none: of every cluster. Throws INVALID_ARGUMENT. */
  static selecting(
    scope: Construct,
    id: string,
    name: string,
    matchLabels: Readonly<Record<string, string>>,
    options: Omit<ClusterGroupProps, 'name' | 'selector'> = {},
  ): ClusterGroup {
    const selector = Object.keys(matchLabels).length === 0 ? {} : { matchLabels };
    return new ClusterGroup(scope, id, { ...options, name, selector });
  }

  readonly target: TargetProps;

  constructor(scope: Construct, id: string, props: ClusterGroupProps) {
    const spec = { selector: props.selector };
    validate(clusterGroupSpec, spec, 'ClusterGroup');
    super(scope, id, 'ClusterGroup', props, spec);
    this.target = { clusterGroup: this.name };
  }
}

class ReferencedGroup extends ReferencedObject implements IClusterGroup {
  readonly target: TargetProps;

  constructor(scope: Construct, id: string, name: string, options: ReferenceOptions) {
    super(scope, id, 'ClusterGroup', name, options);
    this.target = { clusterGroup: this.name };
  }
}

/** The group as an object. Throws INVALID_ARGUMENT. */
export function synthClusterGroup(props: ClusterGroupProps): KubeObject[] {
  return synthesizeOne((chart) => new ClusterGroup(chart, 'group', { ...props, allowSecrets: true }));
}
