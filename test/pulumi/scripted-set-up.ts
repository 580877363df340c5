/** What most tests of a resource need: a control plane, a hub that is played, and Pulumi's own host of dynamic resources. */
import { afterAll, beforeAll } from 'vitest';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane } from '../harness/index.ts';
import type { ControlPlaneOptions } from '../harness/index.ts';
import { DynamicHost } from './dynamic-host.ts';
import { ScriptedHub } from './scripted-hub.ts';

/** There once the hooks of the test file have run. */
export interface ScriptedSetUp {
  readonly plane: ControlPlane;
  /** An administrator of the hub. */
  readonly client: KubeClient;
  readonly hub: ScriptedHub;
  /** Configured for that hub. */
  readonly host: DynamicHost;
}

/** Starts them before the tests of the file and ends them after; to be called once, at its top. */
export function scriptedSetUp(options: ControlPlaneOptions = {}): ScriptedSetUp {
  const made: { -readonly [K in keyof ScriptedSetUp]?: ScriptedSetUp[K] } = {};
  beforeAll(async () => {
    made.plane = await ControlPlane.start({ name: 'hub', ...options });
    made.client = made.plane.client();
    made.hub = await ScriptedHub.start(made.client);
    made.host = await DynamicHost.start({ config: { 'muster:hubKubeconfig': made.plane.kubeconfig } });
  });
  afterAll(async () => {
    await made.host?.close();
    await made.hub?.close();
    await made.client?.close();
    await made.plane?.close();
  });
  return made as ScriptedSetUp;
}
