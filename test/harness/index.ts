/** What tests, benchmarks and the demo start. Everything ends with the process that started it. */
export { ControlPlane } from './control-plane/control-plane.ts';
export type { ControlPlaneOptions } from './control-plane/control-plane.ts';
export type { Component } from './control-plane/arguments.ts';
export { Authority } from './pki/authority.ts';
export type { KeyPair } from './pki/authority.ts';
export { poll } from './poll.ts';
export { FaultProxy } from './faults/fault-proxy.ts';
export type { FaultTarget } from './faults/fault-proxy.ts';
export type { Fault, RequestMatch } from './faults/fault.ts';
export { TcpCut } from './faults/tcp-cut.ts';
export type { CutState } from './faults/tcp-cut.ts';
export { Node } from './node/node.ts';
export type { NodeOptions } from './node/node.ts';
export { nodeSupport } from './node/support.ts';
export type { NodeSupport } from './node/support.ts';
export { ProcessRunner } from './process-runner/process-runner.ts';
export type { ProcessRunnerOptions } from './process-runner/process-runner.ts';
export type { ProcessImage } from './process-runner/environment.ts';
