/** Chart of the CustomResourceDefinitions. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { toCustomResourceDefinition } from '../../api/crd.ts';
import { fleetDescriptors } from '../../api/fleet/index.ts';
import { musterDescriptors } from '../../api/muster/index.ts';
import { clusterProfileDescriptor } from '../../api/multicluster/cluster-profile.ts';
import type { KubeObject } from '../../api/resource.ts';
import { addObject } from '../add-object.ts';
import { synthesize } from './synthesize.ts';

/** Kinds of others that come along on request. */
export interface CrdsProps {
  /**
   * ClusterProfile of SIG Multicluster, which the hub publishes clusters as. Others may have installed it: do not apply
   * it over theirs. Default: false.
   */
  readonly clusterProfiles?: boolean;
}

/** One CustomResourceDefinition per kind of Fleet, and of muster's own. */
export class FleetCrds extends Chart {
  constructor(scope: Construct, id: string, { clusterProfiles = false }: CrdsProps = {}) {
    super(scope, id);
    const others = clusterProfiles ? [clusterProfileDescriptor] : [];
    for (const descriptor of [...fleetDescriptors, ...musterDescriptors, ...others]) {
      const { apiVersion, kind, metadata, spec } = toCustomResourceDefinition(descriptor);
      addObject(this, descriptor.plural, { apiVersion, kind, metadata, spec });
    }
  }
}

/** CustomResourceDefinitions of all Fleet kinds that muster knows, and of its own, sorted by name. */
export function synthCrds(props: CrdsProps = {}): KubeObject[] {
  return synthesize((app) => new FleetCrds(app, 'crds', props));
}
