import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Secrets } from '../../../api/kubernetes/core.ts';
import type { KubeObject } from '../../../api/resource.ts';
import { Deployments } from '../../../api/kubernetes/workloads.ts';
import { MemoryCluster, refusal } from '../../../test/support/memory-cluster.ts';
import { silentLogger } from '../../kube/logger.ts';
import type { AgentContext } from './context.ts';
import { credentialOf, readCredential } from './credential.ts';
import { restoreIfLost } from './restore.ts';
import { AgentStatus } from './status.ts';

const namespace = 'agents';
const signal = new AbortController().signal;
const place = { clusterNamespace: 'ws', clusterName: 'east', deploymentNamespace: 'x' };
const credential = credentialOf({ server: 'https://hub', token: 'a-token', ...place });
const object = (kind: string, name: string): KubeObject => ({ apiVersion: 'v1', kind, metadata: { namespace, name } });

let edge: MemoryCluster;
const record = vi.fn();
const restore = async (): Promise<void> => {
  const status = new AgentStatus({ record, logger: silentLogger });
  await restoreIfLost({ edge: edge.client(), namespace, status } as unknown as AgentContext, credential, signal);
};
const stored = async () => await readCredential(edge.client(), namespace).catch(() => 'something else');

beforeEach(() => {
  edge = new MemoryCluster('https://edge');
  edge.add(Deployments, object('Deployment', 'fleet-agent') as never);
  record.mockClear();
});

describe('a credential that is gone while the agent runs', () => {
  it('given that nobody meant it, then it is back, and an Event tells', async () => {
    await restore();
    expect(await stored()).toEqual(credential);
    expect(record).toHaveBeenCalledExactlyOnceWith('Normal', 'CredentialRestored', expect.any(String));
  });

  it('given one that is there, whatever it says, then it is left alone at the cost of one look', async () => {
    edge.add(Secrets, object('Secret', 'fleet-agent'));
    await restore();
    expect(edge.calls).toHaveLength(1);
    expect(await stored()).toBe('something else');
  });

  it('given a bootstrap Secret, then somebody wants a new registration', async () => {
    edge.add(Secrets, object('Secret', 'fleet-agent-bootstrap'));
    await restore();
    expect(await stored()).toBeUndefined();
  });

  it.each(['gone', 'going'])('given a Deployment that is %s, then the agent is being removed', async (state) => {
    const deployment = object('Deployment', 'fleet-agent');
    edge = new MemoryCluster('https://edge');
    if (state === 'going') {
      const metadata = { ...deployment.metadata, deletionTimestamp: new Date().toISOString() };
      edge.add(Deployments, { ...deployment, metadata } as never);
    }
    await restore();
    expect(await stored()).toBeUndefined();
  });

  it('given an edge that does not answer, then the heartbeat goes on, and an Event tells', async () => {
    edge.before = () => {
      throw refusal(500, 'InternalError', 'x');
    };
    await restore();
    expect(record).toHaveBeenCalledExactlyOnceWith('Warning', 'EdgeUnavailable', expect.any(String));
  });
});
