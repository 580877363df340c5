/** Registration by rule: clusters of Cluster API come and go in one go, beside broken ones, and the hub ends in the middle. */
import { apiVersion } from '../api/fleet/constants.ts';
import { ClusterRegistrationTokens, Clusters } from '../api/fleet/kinds.ts';
import { clusterAPIDefinition } from '../runtime/hub/cluster-api/testdata/definitions.ts';
import { inParallel } from '../runtime/kube/in-parallel.ts';
import { ownerReference } from '../runtime/kube/owner.ts';
import { poll } from '../test/harness/index.ts';
import { Authority } from '../test/harness/pki/authority.ts';
import { playAgents } from '../test/support/played-agents.ts';
import {
  createNamespace,
  createRule,
  installDefinition,
  PlayedClusterAPI,
} from '../test/support/played-cluster-api.ts';
import { startSmallEdges } from '../test/support/small-edges.ts';
import type { BrokenSources } from './broken-sources.ts';
import { breakSources } from './broken-sources.ts';
import { elsewhere } from './ceiling.ts';
import type { BenchOptions } from './options.ts';
import { rssMb } from './process-usage.ts';
import { progress } from './report.ts';
import { bareImports } from './rules-ceiling.ts';
import type { RulesBench } from './rules-measure.ts';
import { goAll, measure, until } from './rules-measure.ts';
import { median, summarize } from './statistics.ts';
import type { Figures } from './statistics.ts';
import { openTarget, workspace } from './target.ts';
import type { Target } from './target.ts';

const namespace = 'bench-sources';

export async function rules(options: BenchOptions): Promise<object> {
  if (options.hub !== undefined) throw new Error('rules measures our own hub: leave out --hub');
  const target = await openTarget(options);
  const authority = Authority.create('edges');
  const { cert, key } = authority.issue({ commonName: 'edges', hosts: ['127.0.0.1'], usages: ['server'] });
  const edges = await startSmallEdges({ cert, key, ca: authority.cert });
  try {
    await target.startHub();
    progress('installing Cluster API’s definition and a rule');
    await createNamespace(target.admin, namespace, { 'muster.dev/source': 'true' });
    await installDefinition(target.admin, clusterAPIDefinition('v1beta2', 'v1beta1'));
    const rule = await createRule(target.admin, 'bench', { registration: { workspace } });
    const agents = playAgents(edges);
    const bench = {
      target,
      edges,
      agents,
      capi: new PlayedClusterAPI(target.admin, namespace),
      rule,
      workers: options.workers,
    };
    await measure(bench, 'warm', Math.min(options.count, 20), {});
    progress('waiting until the garbage collector follows the new kinds');
    await ownersFollowed(target);
    const figures: Figures[] = [];
    for (let run = 1; run <= options.runs; run++) {
      figures.push(await oneRun(bench, options, run));
      progress(`run ${run} of ${options.runs}: ${JSON.stringify(figures.at(-1))}`);
    }
    const { count, broken, runs } = options;
    const failures = agents.failures.length;
    const ceilings = await measureCeiling(bench, options);
    const measured = figures.map((each, index) => ({ ...each, ceilingPerSecond: ceilings[index] ?? null }));
    const ofCeiling = median(figures.map(({ perSecond }) => Number(perSecond))) / median(ceilings);
    const share = Number(ofCeiling.toFixed(2));
    return { benchmark: 'rules', count, broken, runs, failures, ofCeiling: share, ...summarize(measured, 2) };
  } finally {
    await edges.close();
    await target.close();
  }
}

/**
 * Resolves when the garbage collector of Kubernetes follows the new kinds, which it finds within half a minute. Before
 * that it asks for the owner of each new object, and that would be counted as the hub's requests.
 */
async function ownersFollowed({ admin }: Target): Promise<void> {
  const metadata = { namespace: workspace, name: 'owned' };
  const owner = await admin.create(Clusters, {
    apiVersion,
    kind: 'Cluster',
    metadata: { ...metadata, labels: elsewhere },
  });
  const ownerReferences = [ownerReference(Clusters, owner)];
  const owned = { apiVersion, kind: 'ClusterRegistrationToken', metadata: { ...metadata, ownerReferences } };
  await admin.create(ClusterRegistrationTokens, owned);
  await admin.delete(Clusters, metadata);
  const gone = async (): Promise<true | undefined> =>
    (await admin.find(ClusterRegistrationTokens, metadata)) === undefined ? true : undefined;
  await poll(gone, { what: 'the garbage collector to follow owners', limitMs: 120_000 });
}

/** As many runs of the same work made bare, on the same API server; what they leave nobody looks at any more. */
async function measureCeiling(bench: RulesBench, { count, runs }: BenchOptions): Promise<number[]> {
  await bench.target.stopHub();
  bench.edges.onWrite = () => undefined;
  await bareImports(bench, 'bare-warm', Math.min(count, 50));
  const ceilings: number[] = [];
  for (let run = 1; run <= runs; run++) ceilings.push(await bareImports(bench, `bare-${run}`, count));
  progress(`bare: ${ceilings.map((each) => each.toFixed(1)).join(', ')} per second`);
  return ceilings;
}

/** Alone, beside broken ones, and with a hub that ends in the middle of coming and of going. */
async function oneRun(bench: RulesBench, { count, broken }: BenchOptions, run: number): Promise<Figures> {
  const alone = await measure(bench, `alone-${run}`, count, {});
  const bad = await breakSome(bench, `bad-${run}`, broken);
  const beside = await measure(bench, `beside-${run}`, count, {});
  await bad.remove();
  const restarted = await measure(bench, `restarted-${run}`, count, { restart: true });
  return {
    perSecond: alone.perSecond,
    p50Ms: alone.p50Ms,
    p95Ms: alone.p95Ms,
    goneMs: alone.goneMs,
    tidiedMs: alone.tidiedMs,
    requestsPerCluster: alone.requestsPerCluster,
    hubCpuMsPerCluster: alone.hubCpuMsPerCluster,
    driverCpuMsPerCluster: alone.driverCpuMsPerCluster,
    hubRssMb: rssMb(bench.target.pids()) ?? null,
    besideBrokenPerSecond: beside.perSecond,
    besideBrokenP95Ms: beside.p95Ms,
    ofAlone: beside.perSecond / alone.perSecond,
    connectionsPerBroken: bad.connections(),
    restartedRegisteredMs: restarted.registeredMs,
    restartedGoneMs: restarted.goneMs,
    left: alone.left + beside.left + restarted.left,
  };
}

/** Broken sources, and how they go again. */
async function breakSome(
  bench: RulesBench,
  prefix: string,
  count: number,
): Promise<BrokenSources & { remove(): Promise<void> }> {
  const broken = await breakSources(bench, prefix, count);
  await until(() => broken.tried(), 'all broken ones to be tried');
  return {
    ...broken,
    async remove() {
      await inParallel(count, bench.workers, (index) => bench.capi.delete(broken.names[index] ?? ''));
      await goAll(bench, broken.names, false);
      broken.close();
    },
  };
}
