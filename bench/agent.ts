/** The agent by itself: how fast it is there, what it weighs, and what it asks of the hub when nothing happens. */
import { setTimeout as pause } from 'node:timers/promises';
import { Clusters } from '../api/fleet/kinds.ts';
import { TcpCut } from '../test/harness/index.ts';
import { claimPort } from '../test/harness/run/claims.ts';
import { Edge } from './edge.ts';
import type { BenchOptions } from './options.ts';
import { cpuMs, rssMb } from './process-usage.ts';
import { progress } from './report.ts';
import { type Figures, summarize } from './statistics.ts';
import { type Target, openTarget, workspace } from './target.ts';
import { makeToken } from './token.ts';
import { firstMatch } from './watching.ts';

/** Between its start and the first look: longer than `durations.agentMemoryRelease`. */
const settleMs = 12_000;

/** How long a registered agent is watched. Its heart beats once in 15 minutes, so this sees everything else. */
const idleMs = 30_000;

export async function agent(options: BenchOptions): Promise<object> {
  const target = await openTarget(options);
  const edge = await Edge.start(options.agent);
  try {
    const figures: Figures[] = [];
    for (let run = 1; run <= options.runs; run++) {
      figures.push(await once(target, edge, `bench-${Date.now().toString(36)}-${run}`));
      progress(`run ${run}: ${JSON.stringify(figures.at(-1))}`);
    }
    return { benchmark: 'agent', runs: options.runs, ...summarize(figures) };
  } finally {
    await edge.close();
    await target.close();
  }
}

async function once(target: Target, edge: Edge, name: string): Promise<Figures> {
  const { values } = await makeToken(target, name);
  const relay = await TcpCut.start(values.apiServerURL);
  await edge.clean();
  await edge.apply({ ...values, apiServerURL: relay.server }, name);
  const seen = await firstMatch(target.admin, Clusters, { namespace: workspace }, ({ spec, status }) =>
    Boolean(spec?.clientID === name && status?.agent?.lastSeen),
  );
  // As in a Pod: with its probes and metrics.
  const ports = [await claimPort(), await claimPort()];
  const [probe, metrics] = ports.map(({ value }) => `127.0.0.1:${value}`);
  const started = await edge.startAgent({
    FLEET_AGENT_PROBE_BIND_ADDRESS: probe ?? '0',
    FLEET_AGENT_METRICS_BIND_ADDRESS: metrics ?? '0',
  });
  try {
    // The relay tells when the agent first talks to the hub; the API server's own metrics tell only that it did.
    let firstContact = Number.NaN;
    while (Number.isNaN(firstContact)) {
      if (relay.connections > 0) firstContact = performance.now() - started.at;
      await pause(1);
    }
    await Promise.race([seen.found, started.process.failure()]);
    for (const path of [`http://${probe}/readyz`, `http://${metrics}/metrics`]) await (await fetch(path)).text();
    await pause(settleMs);
    const pids = [started.process.pid];
    const ofHub = async (): Promise<number> =>
      await requestsTo(new URL(relay.server).host, `http://${metrics}/metrics`);
    const before = await ofHub();
    const cpuBefore = cpuMs(pids) ?? 0;
    await pause(idleMs);
    return {
      firstHubContactMs: firstContact,
      rssMb: rssMb(pids) ?? null,
      anonymousMb: rssMb(pids, 'RssAnon') ?? null,
      hubRequestsPerMinute: (((await ofHub()) - before) * 60_000) / idleMs,
      hubConnections: relay.connections,
      cpuMsPerMinute: (((cpuMs(pids) ?? 0) - cpuBefore) * 60_000) / idleMs,
    };
  } finally {
    await started.process.stop();
    await relay.close();
    for (const port of ports) port.release();
  }
}

/** Requests that the agent says it has sent to `host`. */
async function requestsTo(host: string, metricsUrl: string): Promise<number> {
  const lines = (await (await fetch(metricsUrl)).text()).split('\n');
  const counts = lines.filter((line) => line.startsWith('rest_client_requests_total{') && line.includes(`"${host}"`));
  return counts.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
