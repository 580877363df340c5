/** Chart of the agent in a downstream cluster. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { KubeObject } from '../../api/resource.ts';
import { Agent } from './agent.ts';
import type { AgentProps } from './props.ts';
import { synthesize } from './synthesize.ts';

/** A chart that holds an {@link Agent} and nothing else. */
export class FleetAgent extends Chart {
  constructor(scope: Construct, id: string, props: AgentProps) {
    super(scope, id);
    new Agent(this, 'agent', props);
  }
}

/**
 * The agent in a downstream cluster, in the order in which to apply it. Equal props give equal bytes, and so do lists
 * whose order has no meaning in another order. With `bootstrap` a Secret is among them, for whoever applies them at once.
 * Throws INVALID_ARGUMENT.
 */
export function synthAgent(props: AgentProps): KubeObject[] {
  return synthesize((app) => new FleetAgent(app, 'agent', { ...props, allowSecrets: true }));
}
