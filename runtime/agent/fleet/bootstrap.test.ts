import { describe, expect, it } from 'vitest';
import { annotations, secretNames } from '../../../api/fleet/constants.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { MemoryCluster } from '../../../test/support/memory-cluster.ts';
import { discardBootstrap } from './bootstrap.ts';
import type { AgentContext } from './context.ts';

const key = { namespace: 'cattle-fleet-system', name: secretNames.bootstrap };

async function discard(marks: Record<string, string>): Promise<MemoryCluster> {
  const cluster = new MemoryCluster('https://edge.test');
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...key, annotations: marks },
    data: { a: 'YQ==' },
  };
  cluster.add(Secrets, secret);
  const served = cluster.one(Secrets, key);
  if (served === undefined) throw new Error('the Secret is missing');
  await discardBootstrap({ edge: cluster.client() } as AgentContext, served, new AbortController().signal);
  return cluster;
}

describe('a bootstrap Secret that has served', () => {
  it('given no mark, then it is removed', async () => {
    expect((await discard({})).one(Secrets, key)).toBeUndefined();
  });

  it('given one that is declared somewhere, then it stays, and nothing is written', async () => {
    const cluster = await discard({ [annotations.keep]: 'true' });
    expect(cluster.one(Secrets, key)).toBeDefined();
    expect(cluster.calls).toEqual([]);
  });
});
