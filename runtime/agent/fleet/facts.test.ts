import { describe, expect, it, vi } from 'vitest';
import type { KubeClient } from '../../kube/client.ts';
import { createFacts } from './facts.ts';

const edge = (answers: Record<string, unknown>) => {
  const raw = vi.fn((path: string) =>
    path in answers ? Promise.resolve(answers[path]) : Promise.reject(new Error('forbidden')),
  );
  return { client: { raw } as unknown as KubeClient, raw };
};
const version = { gitVersion: 'v1.35.2' };

describe('facts of a cluster', () => {
  it('given 300 nodes, when counted, then one is read and the server tells the rest', async () => {
    const { client } = edge({
      '/version': version,
      '/api/v1/nodes?limit=1': { items: [{}], metadata: { remainingItemCount: 299 } },
    });
    expect(await createFacts(client)()).toEqual({ kubernetesVersion: 'v1.35.2', nodes: 300 });
  });
  it('given no right to see nodes, when read, then the version is there all the same', async () => {
    expect(await createFacts(edge({ '/version': version }).client)()).toEqual({ kubernetesVersion: 'v1.35.2' });
  });
  it('given answers of another program, when read, then nothing is told', async () => {
    const { client } = edge({ '/version': 'hello', '/api/v1/nodes?limit=1': null });
    expect(await createFacts(client)()).toEqual({});
  });
  it('given heartbeats in short order, when told, then the cluster is asked once', async () => {
    const { client, raw } = edge({ '/version': version });
    const facts = createFacts(client);
    await facts();
    await facts();
    expect(raw).toHaveBeenCalledTimes(2);
  });
});
