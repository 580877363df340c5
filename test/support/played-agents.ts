/** Plays the agents of small edges: each registers when its bootstrap Secret arrives, and sends one heartbeat. */
import { readBootstrapSecret } from '../../api/fleet/bootstrap-values.ts';
import type { ConfigMap, Secret } from '../../api/kubernetes/core.ts';
import { poll } from '../harness/index.ts';
import { SimulatedAgent } from './simulated-agent.ts';
import type { SmallEdge, SmallEdges } from './small-edges.ts';

export interface PlayedAgents {
  /** Names of edges whose agent has reported, with the time (performance.now()) of its report. */
  readonly reported: Map<string, number>;
  /** What went wrong for good. */
  readonly failures: unknown[];
}

/** Longest wait of one agent for its hub. */
const limitMs = 120_000;

export function playAgents(edges: SmallEdges): PlayedAgents {
  const played: PlayedAgents = { reported: new Map(), failures: [] };
  edges.onWrite = (edge, path, object) => {
    if (!path.endsWith('/secrets/fleet-agent-bootstrap')) return;
    register(edge, path, object as Secret)
      .then(() => void played.reported.set(edge.name, performance.now()))
      .catch((error: unknown) => void played.failures.push(error));
  };
  return played;
}

async function register(edge: SmallEdge, path: string, bootstrap: Secret): Promise<void> {
  const where = path.replace('secrets/fleet-agent-bootstrap', 'configmaps/fleet-agent');
  // the two come side by side
  const config = await poll(() => edge.objects.get(where) as ConfigMap | undefined, { what: `what ${edge.name} is` });
  const { clientID = '' } = JSON.parse(config.data?.['config'] ?? '{}') as { clientID?: string };
  const agent = await SimulatedAgent.register(readBootstrapSecret(bootstrap), clientID, AbortSignal.timeout(limitMs));
  await agent.close();
}
