/** Chart of the hub. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { KubeObject } from '../../api/resource.ts';
import { Hub } from './hub.ts';
import type { HubProps } from './props.ts';
import { synthesize } from './synthesize.ts';

/** A chart that holds a {@link Hub} and nothing else. */
export class FleetHub extends Chart {
  constructor(scope: Construct, id: string, props: HubProps) {
    super(scope, id);
    new Hub(this, 'hub', props);
  }
}

/**
 * Everything a hub needs but the CRDs, in the order in which to apply it: namespaces, admission policies (the fence
 * stands before the rights), accounts, RBAC, configuration, Deployment. Throws INVALID_ARGUMENT.
 */
export function synthHub(props: HubProps): KubeObject[] {
  return synthesize((app) => new FleetHub(app, 'hub', { ...props, allowSecrets: true }));
}
