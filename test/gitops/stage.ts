/**
 * A hub and a cluster beside it, both with a worker that runs what is applied, and the shell of a person who works on
 * them: `muster` and `kubectl` on PATH, the contexts `hub`, `east` and `store-17` in KUBECONFIG. The last two are one
 * cluster: two agents live in two of its namespaces.
 */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { buildImage, musterImageRef } from '../../tools/image/index.ts';
import { currentRun, nodeSupport, startLocalCluster } from '../harness/index.ts';
import type { ControlPlane, LocalCluster } from '../harness/index.ts';
import { binary } from '../harness/binaries.ts';

export const programs = fileURLToPath(new URL('../../dist/bin/', import.meta.url));

export interface Shell {
  /** Environment of the commands. */
  readonly env: NodeJS.ProcessEnv;
}

/** The planes by the names of their contexts. */
export async function openShell(planes: Readonly<Record<string, ControlPlane>>): Promise<Shell> {
  const home = (await currentRun()).makeDir('home');
  const bin = join(home, 'bin');
  mkdirSync(bin);
  symlinkSync(await binary('kubectl'), join(bin, 'kubectl'));
  const muster = join(bin, 'muster');
  writeFileSync(muster, `#!/bin/sh\nexec '${process.execPath}' '${join(programs, 'muster.cjs')}' "$@"\n`);
  chmodSync(muster, 0o755);
  const kubeconfig = join(home, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf(planes), { mode: 0o600 });
  const path = [bin, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  return { env: { PATH: path, HOME: home, KUBECONFIG: kubeconfig, IMAGE: musterImageRef, TERM: 'dumb' } };
}

function kubeconfigOf(planes: Readonly<Record<string, ControlPlane>>): string {
  const entries = Object.entries(planes);
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: entries.map(([name, { server, ca }]) => ({
      name,
      cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
    })),
    users: entries.map(([name, { adminToken }]) => ({ name, user: { token: adminToken } })),
    contexts: entries.map(([name]) => ({ name, context: { cluster: name, user: name } })),
  });
}

export interface WorkerOptions {
  readonly name: string;
  /** False: a process runner even where a real node can run. */
  readonly node: boolean;
}

/** A cluster that runs pods of the muster image. */
export async function startCluster({ name, node }: WorkerOptions): Promise<LocalCluster> {
  const real = node && nodeSupport().supported;
  const command = { muster: [process.execPath, join(programs, 'muster.cjs')] };
  return await startLocalCluster({
    name,
    node: real,
    ...(real ? { images: [(await buildImage()).archive] } : { processImages: { [musterImageRef]: { command } } }),
  });
}

export interface Stage extends Shell, AsyncDisposable {
  readonly hub: LocalCluster;
  readonly edge: LocalCluster;
  readonly hubAdmin: KubeClient;
  readonly edgeAdmin: KubeClient;
  close(): Promise<void>;
}

export async function startStage(name: string, { node = true } = {}): Promise<Stage> {
  const started = await Promise.allSettled([
    startCluster({ name: `${name}-hub`, node }),
    startCluster({ name: `${name}-edge`, node }),
  ]);
  const clusters = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const [hub, edge] = clusters;
  const failed = started.find((each) => each.status === 'rejected');
  if (failed !== undefined || hub === undefined || edge === undefined) {
    await Promise.all(clusters.map((cluster) => cluster.close()));
    throw failed?.reason;
  }
  const hubAdmin = hub.plane.client();
  const edgeAdmin = edge.plane.client();
  const close = async (): Promise<void> => {
    await Promise.all([hubAdmin.close(), edgeAdmin.close()]);
    await Promise.all([hub.close(), edge.close()]);
  };
  const { env } = await openShell({ hub: hub.plane, east: edge.plane, 'store-17': edge.plane });
  return { env, hub, edge, hubAdmin, edgeAdmin, close, [Symbol.asyncDispose]: close };
}
