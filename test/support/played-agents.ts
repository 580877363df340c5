/** Plays the agents of small edges: each registers when its bootstrap Secret arrives, reports, and keeps its credential. */
import type { Secret } from '../../api/kubernetes/core.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import { registrationSecretName } from '../../api/fleet/names.ts';
import { isForbidden } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { poll } from '../harness/index.ts';
import { ask } from './registering.ts';
import { registrationNamespace } from './running-hub.ts';
import type { SmallEdge, SmallEdges } from './small-edges.ts';

export interface PlayedAgents {
  /** Names of edges whose agent has reported, with the time (performance.now()) of its report. */
  readonly reported: Map<string, number>;
  /** What went wrong; agents of the real kind would try again. */
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
  const config = edge.objects.get(path.replace('secrets/fleet-agent-bootstrap', 'configmaps/fleet-agent'));
  const { clientID = '' } = JSON.parse((config as { data?: { config?: string } }).data?.config ?? '{}') as {
    clientID?: string;
  };
  const holder = clientFor(text('token'));
  try {
    const request = await ask(holder, { clientID, token: text('tokenName'), rotating: true });
    const name = registrationSecretName(clientID, request.spec?.clientRandom ?? '');
    const answer = await poll(() => read(holder, name), { what: `the answer to ${edge.name}`, limitMs: 120_000 });
    const value = (key: string) => Buffer.from(answer.data?.[key] ?? '', 'base64').toString();
    const agent = clientFor(value('token'));
    try {
      await agent.patch(
        Clusters,
        { namespace: value('clusterNamespace'), name: value('clusterName') },
        {
          status: {
            agent: { lastSeen: `${new Date().toISOString().slice(0, 19)}Z`, namespace: 'cattle-fleet-system' },
          },
        },
        { type: 'merge', subresource: 'status' },
      );
    } finally {
      await agent.close();
    }
  } finally {
    await holder.close();
  }
}

/** By name, as all that its rights allow; refused until they are effective. */
async function read(client: KubeClient, name: string): Promise<Secret | undefined> {
  try {
    return await client.find(Secrets, { namespace: registrationNamespace, name });
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
