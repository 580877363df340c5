/** `pulumi up` and `pulumi preview` of registered clusters without a change, beside resources that do nothing. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { formatKubeconfig } from '../runtime/kube/kubeconfig.ts';
import { PulumiEngine } from '../test/harness/pulumi-engine.ts';
import { buildPackage } from '../tools/build.ts';
import { pulumiEnvironment } from '../tools/index.ts';
import { createReporter } from '../tools/progress.ts';
import { repositoryRoot } from '../tools/repository.ts';
import { countRequests, difference, total } from './api-requests.ts';
import { Crowd } from './crowd.ts';
import type { BenchOptions } from './options.ts';
import { progress } from './report.ts';
import { type Figures, summarize } from './statistics.ts';
import { type Target, openTarget } from './target.ts';
import { makeToken } from './token.ts';

export async function pulumi(options: BenchOptions): Promise<object> {
  const reporter = createReporter();
  await buildPackage(reporter);
  const target = await openTarget(options);
  const crowd = new Crowd(options);
  const env = { ...(await pulumiEnvironment({ reporter })), PULUMI_CONFIG_PASSPHRASE: 'bench' };
  const run = `bench-${randomBytes(3).toString('hex')}`;
  const stack = async (program: string): Promise<PulumiEngine> => {
    const project = join(repositoryRoot, 'bench', 'programs', program);
    const engine = await PulumiEngine.create({ project, env });
    await engine.configure('run', run);
    await engine.configure('count', `${options.count}`);
    return engine;
  };
  const [registered, bare] = [await stack('registered'), await stack('bare')];
  try {
    const { server, ca = '', token = '' } = target.config;
    await registered.configure('muster:hubKubeconfig', formatKubeconfig({ server, ca, token }), { secret: true });
    progress(`making ${options.count} resources in each stack`);
    await Promise.all([registered.up(), bare.up()]);
    const { values } = await makeToken(target, run);
    const grown = crowd.grow(options.count, values, (index) => `${run}-${index}`);
    await Promise.race([grown, target.failure()]);
    await registered.refresh();
    const figures: Figures[] = [];
    for (let turn = 1; turn <= options.runs; turn++) {
      figures.push(await once(target, registered, bare));
      progress(`run ${turn} of ${options.runs}: ${JSON.stringify(figures.at(-1))}`);
    }
    return { benchmark: 'pulumi', count: options.count, runs: options.runs, ...summarize(figures, 2) };
  } finally {
    await Promise.all([registered.close(), bare.close(), crowd.close()]);
    await target.close();
  }
}

/** In turns, so that whatever else the machine does hits both. A change would end the engine with an error. */
async function once(target: Target, registered: PulumiEngine, bare: PulumiEngine): Promise<Figures> {
  const bareUpMs = await timed(() => bare.up('--expect-no-changes'));
  const before = await countRequests(target.config);
  const upMs = await timed(() => registered.up('--expect-no-changes'));
  const upRequests = total(difference(before, await countRequests(target.config)));
  const barePreviewMs = await timed(() => bare.preview('--expect-no-changes'));
  const previewMs = await timed(() => registered.preview('--expect-no-changes'));
  return {
    upMs,
    bareUpMs,
    upRatio: upMs / bareUpMs,
    previewMs,
    barePreviewMs,
    previewRatio: previewMs / barePreviewMs,
    upRequests,
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
