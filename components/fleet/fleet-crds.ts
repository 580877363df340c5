/** Chart of the CustomResourceDefinitions. */
import { ApiObject, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { toCustomResourceDefinition } from '../../api/crd.ts';
import { fleetDescriptors } from '../../api/fleet/index.ts';

/** One CustomResourceDefinition per Fleet kind; no props, because a CRD is the same for everyone. */
export class FleetCrds extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    for (const descriptor of fleetDescriptors) {
      const { apiVersion, kind, metadata, spec } = toCustomResourceDefinition(descriptor);
      new ApiObject(this, descriptor.plural, { apiVersion, kind, metadata, spec });
    }
  }
}
