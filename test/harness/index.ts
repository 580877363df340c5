/** What tests, benchmarks and the demo start. Everything ends with the process that started it. */
export { ControlPlane } from './control-plane/control-plane.ts';
export type { ControlPlaneOptions } from './control-plane/control-plane.ts';
export type { Component } from './control-plane/arguments.ts';
export { Authority } from './pki/authority.ts';
export type { KeyPair } from './pki/authority.ts';
export { poll } from './poll.ts';
