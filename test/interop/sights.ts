/** What the tests look at, at either hub. */
import { expect } from 'vitest';
import type { Cluster, ClusterRegistration } from '../../api/fleet/kinds.ts';
import { BundleDeployments, ClusterRegistrations, Clusters } from '../../api/fleet/kinds.ts';
import { clusterNamespace } from '../../api/fleet/names.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { isForbidden, isUnauthorized } from '../../runtime/kube/api-error.ts';
import { parseKubeconfig } from '../../runtime/kube/kubeconfig.ts';
import { createClient } from '../../runtime/kube/create-client.ts';
import { poll } from '../harness/index.ts';
import type { AtHub } from '../support/registering.ts';
import { workspace } from '../support/registering.ts';
import type { InteropEdge } from './edge.ts';

/** Long enough for Fleet's agent: it polls every 2 s, and its first heartbeat comes 15 s after it has registered. */
const limitMs = 120_000;

/** Waits until there is nothing more to be seen. */
export async function gone(look: () => Promise<unknown>, what: string): Promise<void> {
  await poll(async () => ((await look()) === undefined ? true : undefined), { what: `${what} to go` });
}

/** Waits until an identity has one request, another one than `old` if that is given. */
export async function oneRequest(hub: AtHub, clientID: string, old?: ClusterRegistration): Promise<void> {
  const one = async (): Promise<true | undefined> => {
    const [request, ...others] = await requestsOf(hub, clientID);
    return request !== undefined && others.length === 0 && request.metadata.uid !== old?.metadata.uid
      ? true
      : undefined;
  };
  await poll(one, { what: `one request of ${clientID}` });
}

/** Requests of one identity. */
export async function requestsOf(hub: AtHub, clientID: string): Promise<ClusterRegistration[]> {
  const { items } = await hub.admin.list(ClusterRegistrations, { namespace: workspace });
  return items.filter(({ spec }) => spec?.clientID === clientID);
}

/** The Cluster of an identity, once it has been seen after `since` (its own time, whole seconds). */
export async function seen(hub: AtHub, clientID: string, since = 0): Promise<Cluster> {
  return await poll(
    async () => {
      const { items } = await hub.admin.list(Clusters, { namespace: workspace });
      const found = items.find(({ spec }) => spec?.clientID === clientID);
      return lastSeen(found) > since ? found : undefined;
    },
    { what: `a heartbeat of ${clientID}`, limitMs },
  );
}

export function lastSeen(cluster: Cluster | undefined): number {
  return Date.parse(cluster?.status?.agent?.lastSeen ?? '1970-01-01T00:00:00Z');
}

/** The credential that an agent has stored, once there is one other than `old`. */
export async function credentialOf(edge: InteropEdge, old?: Secret): Promise<Secret> {
  return await poll(
    async () => {
      const found = await edge.credential();
      return found !== undefined && found.data?.['kubeconfig'] !== old?.data?.['kubeconfig'] ? found : undefined;
    },
    { what: 'the credential of the agent', limitMs },
  );
}

export function text(secret: Secret | undefined, key: string): string {
  return Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();
}

/** The stored Secret has what either agent looks for. */
export function expectWireLayout(secret: Secret, name: string): void {
  expect(Object.keys(secret.data ?? {}).sort()).toEqual([
    'clusterName',
    'clusterNamespace',
    'deploymentNamespace',
    'kubeconfig',
  ]);
  expect(text(secret, 'clusterName')).toBe(name);
  expect(text(secret, 'clusterNamespace')).toBe(workspace);
  expect(text(secret, 'deploymentNamespace')).toBe(clusterNamespace(workspace, name));
}

/** What an agent may do with its credential: see its own BundleDeployments, and no others, and no secrets of others. */
export async function expectAgentRights(secret: Secret): Promise<void> {
  const client = createClient(parseKubeconfig(text(secret, 'kubeconfig'), { policy: 'hub' }));
  try {
    const namespace = text(secret, 'deploymentNamespace');
    const { resourceVersion } = await client.list(BundleDeployments, { namespace });
    const watch = client.watch(BundleDeployments, {
      namespace,
      resourceVersion,
      signal: AbortSignal.timeout(1_000),
    });
    await expect(drain(watch)).resolves.toBeUndefined();
    await expect(client.list(BundleDeployments, { namespace: 'fleet-local' })).rejects.toSatisfy(isForbidden);
    await expect(client.list(Secrets, { namespace: workspace })).rejects.toSatisfy(isForbidden);
  } finally {
    await client.close();
  }
}

/** Ends well when the stream is accepted and ended by us. */
async function drain(events: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of events);
  } catch (error) {
    if (isForbidden(error) || isUnauthorized(error)) throw error;
  }
}

/** The hub does not accept the credential any more. */
export async function expectRevoked(secret: Secret): Promise<void> {
  const client = createClient(parseKubeconfig(text(secret, 'kubeconfig'), { policy: 'hub' }));
  try {
    const namespace = text(secret, 'deploymentNamespace');
    const refused = async (): Promise<true | undefined> => {
      try {
        await client.list(BundleDeployments, { namespace });
        return undefined;
      } catch (error) {
        if (isForbidden(error) || isUnauthorized(error)) return true;
        throw error;
      }
    };
    await poll(refused, { what: 'the credential to be revoked', limitMs });
  } finally {
    await client.close();
  }
}
