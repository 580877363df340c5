/**
 * `pulumi-muster/kubernetes`: hub and agent as resources of the user's own `@pulumi/kubernetes` provider. Apart from the
 * main entry, as it loads what makes the manifests (decision 0009).
 */
import '../require-node.ts';

export { Agent, type AgentArgs } from './agent.ts';
export { Hub, type HubArgs } from './hub.ts';
export type { KubernetesObject } from './kubernetes-object.ts';
export type { Open } from './open-args.ts';
export type { ObjectsComponent, ReleaseTimeouts } from './objects-component.ts';
