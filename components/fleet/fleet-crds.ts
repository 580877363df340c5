/** Chart of the CustomResourceDefinitions. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { toCustomResourceDefinition } from '../../api/crd.ts';
import { fleetDescriptors } from '../../api/fleet/index.ts';
import type { KubeObject } from '../../api/resource.ts';
import { addObject } from '../add-object.ts';
import { synthesize } from './synthesize.ts';

/** One CustomResourceDefinition per Fleet kind; no props, because a CRD is the same for everyone. */
export class FleetCrds extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    for (const descriptor of fleetDescriptors) {
      const { apiVersion, kind, metadata, spec } = toCustomResourceDefinition(descriptor);
      addObject(this, descriptor.plural, { apiVersion, kind, metadata, spec });
    }
  }
}

/** CustomResourceDefinitions of all Fleet kinds that muster knows, sorted by name. */
export function synthCrds(): KubeObject[] {
  return synthesize((app) => new FleetCrds(app, 'crds'));
}
