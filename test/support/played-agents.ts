/** Plays the agents of small edges: each registers when its bootstrap Secret arrives, reports, and keeps its credential. */
import type { ConfigMap, Secret } from '../../api/kubernetes/core.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import { registrationSecretName } from '../../api/fleet/names.ts';
import { isForbidden, isUnauthorized } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { poll } from '../harness/index.ts';
import { ask } from './registering.ts';
import { registrationNamespace } from './running-hub.ts';
import type { SmallEdge, SmallEdges } from './small-edges.ts';

export interface PlayedAgents {
  /** Names of edges whose agent has reported, with the time (performance.now()) of its report. */
  readonly reported: Map<string, number>;
  /** What went wrong for good. */
  readonly failures: unknown[];
}

/** `clientFor` signs in at the hub with a bearer token. */
export function playAgents(edges: SmallEdges, clientFor: (token: string) => KubeClient): PlayedAgents {
  const played: PlayedAgents = { reported: new Map(), failures: [] };
  edges.onWrite = (edge, path, object) => {
    if (!path.endsWith('/secrets/fleet-agent-bootstrap')) return;
    register(edge, path, object as Secret, clientFor)
      .then(() => void played.reported.set(edge.name, performance.now()))
      .catch((error: unknown) => void played.failures.push(error));
  };
  return played;
}

async function register(
  edge: SmallEdge,
  path: string,
  bootstrap: Secret,
  clientFor: (token: string) => KubeClient,
): Promise<void> {
  const text = (key: string) => Buffer.from(bootstrap.data?.[key] ?? '', 'base64').toString();
  const where = path.replace('secrets/fleet-agent-bootstrap', 'configmaps/fleet-agent');
  // the two come side by side
  const config = await poll(() => edge.objects.get(where) as ConfigMap | undefined, { what: `what ${edge.name} is` });
  const { clientID = '' } = JSON.parse(config.data?.['config'] ?? '{}') as { clientID?: string };
  const holder = clientFor(text('token'));
  try {
    const options = { clientID, token: text('tokenName'), rotating: true };
    const request = await allowed(() => ask(holder, options), `the request of ${edge.name}`);
    const name = registrationSecretName(clientID, request.spec?.clientRandom ?? '');
    const read = () => holder.find(Secrets, { namespace: registrationNamespace, name });
    const answer = await allowed(read, `the answer to ${edge.name}`);
    const value = (key: string) => Buffer.from(answer.data?.[key] ?? '', 'base64').toString();
    const agent = clientFor(value('token'));
    try {
      const cluster = { namespace: value('clusterNamespace'), name: value('clusterName') };
      const lastSeen = `${new Date().toISOString().slice(0, 19)}Z`;
      const report = { status: { agent: { lastSeen, namespace: 'cattle-fleet-system' } } };
      await allowed(
        () => agent.patch(Clusters, cluster, report, { type: 'merge', subresource: 'status' }),
        `the report of ${edge.name}`,
      );
    } finally {
      await agent.close();
    }
  } finally {
    await holder.close();
  }
}

/** As every agent does it: a credential may be there some milliseconds before API servers know its rights. */
async function allowed<T>(call: () => Promise<T | undefined>, what: string): Promise<T> {
  const attempt = async (): Promise<T | undefined> => {
    try {
      return await call();
    } catch (error) {
      if (isForbidden(error) || isUnauthorized(error)) return undefined;
      throw error;
    }
  };
  return await poll(attempt, { what, limitMs: 120_000 });
}
