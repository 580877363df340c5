/** The hub that is measured: our own, started here as users run it, or one that is there already. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { defaults } from '../api/fleet/constants.ts';
import { registrationNamespace } from '../api/fleet/names.ts';
import { hubNames } from '../components/fleet/names.ts';
import { resourceTypeOf, synthCrds, synthHub } from '../components/fleet/index.ts';
import type { ClientConfig } from '../runtime/kube/client-config.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { createClient } from '../runtime/kube/create-client.ts';
import { loadKubeconfigFile } from '../runtime/kube/kubeconfig.ts';
import { ControlPlane, poll } from '../test/harness/index.ts';
import { httpGet } from '../test/harness/http-get.ts';
import { ManagedProcess } from '../test/harness/managed-process.ts';
import { claimPort } from '../test/harness/run/claims.ts';
import { repositoryRoot } from '../tools/repository.ts';
import type { BenchOptions } from './options.ts';
import { progress } from './report.ts';

/** The command as it is shipped. */
export const muster = join(repositoryRoot, 'dist', 'bin', 'muster.cjs');

export const workspace = defaults.defaultNamespace;
export const systemNamespace = defaults.systemNamespace;
export const answersNamespace = registrationNamespace(defaults.systemNamespace);

export interface Target {
  /** An administrator of the hub. */
  readonly config: ClientConfig;
  readonly admin: KubeClient;
  /** The identity whose writes the ceiling is measured with: the hub's own, or the administrator of a given hub. */
  readonly hub: KubeClient;
  /** Processes of the hub. */
  pids(): number[];
  /** Rejects when our own hub ends by itself, such as one that lost its lease on a machine that is far too busy. */
  failure(): Promise<never>;
  /** Starts our own hub unless it runs, and waits until it is ready; a given one runs. */
  startHub(): Promise<void>;
  /** Ends our own hub; a given one goes on. */
  stopHub(): Promise<void>;
  close(): Promise<void>;
}

export async function openTarget(options: BenchOptions): Promise<Target> {
  return options.hub === undefined ? await startOwn(options) : openGiven(options.hub, options);
}

const clientOptions = (options: BenchOptions) => ({ userAgent: 'muster-bench', maxConnections: options.workers });

function openGiven(file: string, options: BenchOptions): Target {
  const config = loadKubeconfigFile(file);
  const admin = createClient(config, clientOptions(options));
  return {
    config,
    admin,
    hub: admin,
    pids: () => [...options.hubPids],
    failure: () => new Promise(() => undefined),
    startHub: async () => Promise.resolve(),
    stopHub: async () => Promise.resolve(),
    close: () => admin.close(),
  };
}

async function startOwn(options: BenchOptions): Promise<Target> {
  progress('starting a control plane and the hub, under its own ServiceAccount');
  const plane = await ControlPlane.start({ name: 'hub' });
  const admin = plane.client(clientOptions(options));
  const config = { apiServerURL: plane.server, apiServerCA: Buffer.from(plane.ca).toString('base64') };
  for (const object of [...synthCrds(), ...synthHub({ image: 'muster:bench', config })]) {
    await admin.apply(resourceTypeOf(object), object, { fieldManager: 'muster' });
  }
  const account = { namespace: systemNamespace, name: hubNames.serviceAccount };
  const { token } = await admin.createToken(account, { expirationSeconds: 24 * 3600 });
  let hub = await startHub(plane, token);
  const own = createClient({ server: plane.server, ca: plane.ca, token, contextName: 'hub' }, clientOptions(options));
  return {
    config: { server: plane.server, ca: plane.ca, token: plane.adminToken, contextName: 'admin' },
    admin,
    hub: own,
    pids: () => (hub.running ? [hub.pid] : []),
    failure: () => hub.failure(),
    startHub: async () => {
      if (!hub.running) hub = await startHub(plane, token);
    },
    stopHub: async () => void (await hub.stop()),
    close: async () => {
      await hub.stop();
      await Promise.all([own.close(), admin.close()]);
      await plane.close();
    },
  };
}

async function startHub(plane: ControlPlane, token: string): Promise<ManagedProcess> {
  const kubeconfig = join(plane.dir, 'hub.kubeconfig');
  writeFileSync(kubeconfig, plane.kubeconfigFor({ token }), { mode: 0o600 });
  const port = await claimPort();
  const hub = await ManagedProcess.start({
    name: 'hub',
    command: process.execPath,
    args: [muster, 'hub', '--kubeconfig', kubeconfig, '--namespace', systemNamespace],
    logFile: join(plane.dir, 'hub.log'),
    env: { MUSTER_PROBE_BIND_ADDRESS: `127.0.0.1:${port.value}`, MUSTER_METRICS_BIND_ADDRESS: '0', POD_NAME: 'bench' },
  });
  const ready = async (): Promise<true | undefined> =>
    (await httpGet({ server: `http://127.0.0.1:${port.value}` }, '/readyz'))?.status === 200 ? true : undefined;
  await Promise.race([poll(ready, { what: 'the hub to be ready' }), hub.failure()]);
  return hub;
}
