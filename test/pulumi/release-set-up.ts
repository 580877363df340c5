/** What tests of whole releases need: a control plane whose Deployments are played, and Pulumi's own host. */
import { afterAll, beforeAll, vi } from 'vitest';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane } from '../harness/index.ts';
import { DynamicHost } from './dynamic-host.ts';
import { ScriptedWorkloads, withoutDeployments } from './scripted-workloads.ts';

/** There once the hooks of the test file have run. */
export interface ReleaseSetUp {
  readonly plane: ControlPlane;
  /** An administrator of it. */
  readonly client: KubeClient;
  readonly workloads: ScriptedWorkloads;
  /** Configured for a hub on it. */
  readonly host: DynamicHost;
}

/** Starts them before the tests of the file and ends them after; to be called once, at its top. */
export function releaseSetUp(): ReleaseSetUp {
  // Whole installations on a control plane of two cores that other tests use as well.
  vi.setConfig({ testTimeout: 120_000 });
  const made: { -readonly [K in keyof ReleaseSetUp]?: ReleaseSetUp[K] } = {};
  beforeAll(async () => {
    made.plane = await ControlPlane.start({ name: 'hub', controllerManagerArgs: withoutDeployments });
    await made.plane.whenWorking();
    made.client = made.plane.client();
    made.workloads = new ScriptedWorkloads(made.client);
    made.host = await DynamicHost.start({ config: { 'muster:hubKubeconfig': made.plane.kubeconfig } });
  });
  afterAll(async () => {
    await made.host?.close();
    await made.workloads?.close();
    await made.client?.close();
    await made.plane?.close();
  });
  return made as ReleaseSetUp;
}
