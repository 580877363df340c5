/** The steps of the demo, each a leg with its time. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PulumiEngine } from '../test/harness/pulumi-engine.ts';
import type { EngineResult } from '../test/harness/pulumi-engine.ts';
import { buildImage, buildPauseImage } from '../tools/image/index.ts';
import { ensureTools, pulumiEnvironment, usualTools } from '../tools/index.ts';
import type { Reporter, ToolName } from '../tools/index.ts';
import type { DemoClusters } from './clusters.ts';
import { startClusters, useGivenClusters } from './clusters.ts';
import { Legs } from './legs.ts';
import type { DemoOptions } from './options.ts';
import { commonConfig } from './program-config.ts';
import type { ConfigValue } from './program-config.ts';

const project = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** What clusters of our own need; given ones need the engine and kubectl only. */
const givenTools: readonly ToolName[] = ['pulumi', 'pulumi-language-nodejs', 'kubectl'];

/**
 * Runs the demo to its end.
 * @throws the signal's reason when interrupted, or what went wrong; everything that was started has ended by then.
 */
export async function runDemo(options: DemoOptions, reporter: Reporter, signal: AbortSignal): Promise<void> {
  const legs = new Legs(reporter);
  const given = options.hubKubeconfig !== undefined;
  const tools = await ensureTools(given ? givenTools : usualTools, reporter);
  signal.throwIfAborted();
  const folder = await mkdtemp(join(tmpdir(), 'muster-demo-'));
  let clusters: DemoClusters | undefined;
  let engine: PulumiEngine | undefined;
  let registered = false;
  try {
    const image = given ? undefined : await ownImage(reporter);
    signal.throwIfAborted();
    clusters = await legs.run(given ? 'look at the given clusters' : 'start the hub cluster', () =>
      image === undefined ? useGivenClusters(options) : startClusters(image, options),
    );
    signal.throwIfAborted();
    reporter.info(`Pods run on ${clusters.worker}.`);
    const env = { ...(await pulumiEnvironment({ reporter })), PULUMI_CONFIG_PASSPHRASE: 'demo' };
    engine = await PulumiEngine.create({
      project,
      stack: `demo-${process.pid}`,
      env,
      signal,
      color: process.stdout.isTTY,
      onOutput: (text) => process.stdout.write(text),
    });
    const common = commonConfig(clusters.hub, options.image ?? image?.ref ?? '');
    const values: ConfigValue[] = [...common, ...clusters.config, ...options.config];
    for (const { key, value, secret } of values) await engine.configure(key, value, { secret: secret === true });

    const hubFile = join(folder, 'hub.kubeconfig');
    await writeFile(hubFile, clusters.hub.kubeconfig, { mode: 0o600 });
    registered = true;
    const what = given ? 'install the hub, register' : 'provision two clusters, install the hub, register both';
    await pulumi(legs, `pulumi up: ${what}`, engine.up());
    await show(tools.kubectl.path, hubFile);
    await pulumi(legs, 'second preview: no changes', engine.preview('--expect-no-changes'));
    process.stdout.write(`\n${legs.table()}\n`);
    if (!options.once) {
      process.stdout.write(await lookAround(tools.kubectl.path, hubFile, clusters));
      if (!signal.aborted) await once(signal, 'abort');
      return;
    }
    await remove(engine, clusters, legs);
    registered = false;
  } finally {
    // Clusters of our own end with this run; given ones must not keep what was registered.
    if (given && registered) await engine?.uninterrupted().destroy();
    await clusters?.close();
    await engine?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function ownImage(reporter: Reporter): Promise<{ ref: string; archive: string }> {
  const [image] = await Promise.all([buildImage({ reporter }), buildPauseImage({ reporter })]);
  return image;
}

/** A leg of the engine, which shows its own progress. */
async function pulumi(legs: Legs, name: string, operation: Promise<EngineResult>): Promise<void> {
  process.stdout.write(`\n${name}\n`);
  await legs.run(name, () => operation, { ownOutput: true });
}

/** The clusters as kubectl shows them: real kubectl, real printer columns. */
async function show(kubectl: string, kubeconfig: string): Promise<void> {
  const { stdout } = await run(kubectl, ['--kubeconfig', kubeconfig, 'get', 'clusters.fleet.cattle.io', '-A']);
  process.stdout.write(`\n$ kubectl get clusters.fleet.cattle.io -A\n${stdout}\n`);
}

async function lookAround(kubectl: string, hubFile: string, clusters: DemoClusters): Promise<string> {
  const lines = Object.entries({ hub: hubFile, ...(await clusters.downstream()) }).map(
    ([name, file]) => `  ${name.padEnd(5)} ${kubectl} --kubeconfig ${file} get pods -A`,
  );
  return `\nIt stays up. Look around:\n${lines.join('\n')}\n\nCtrl-C ends it.\n`;
}

async function remove(engine: PulumiEngine, clusters: DemoClusters, legs: Legs): Promise<void> {
  await pulumi(legs, 'pulumi destroy', engine.destroy());
  const left = await legs.run('look for anything left', () => clusters.leftOvers());
  if (left.length > 0) throw new Error(`pulumi destroy left ${left.length} objects behind:\n  ${left.join('\n  ')}`);
  process.stdout.write(`\nNothing is left: no agent, namespace, RBAC, Secret or definition.\n\n${legs.table()}\n`);
}
