import { describe, expect, it } from 'vitest';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { newCluster } from './fleet-cluster.ts';
import { createFleetRegistrar } from './fleet-registrar.ts';
import { lossPolicy } from './registration.ts';
import type { Registration } from './registration.ts';

const wanted: Registration = {
  rule: 'selves',
  source: { key: 'Cluster/sources/edge', uid: 'u' },
  workspace: 'ws',
  name: 'edge',
  labels: {},
  annotations: {},
  agent: {},
  tokenTTL: '1h',
  loss: lossPolicy(),
};
const waiting = { type: 'Registered', status: 'False', reason: 'WaitingForAgent' };
const created = newCluster(wanted, 'agent-token-edge');
const declared: Cluster = {
  ...created,
  metadata: { ...created.metadata, uid: 'c' },
  status: { namespace: 'cluster-ws-edge', conditions: [waiting] },
};
const granted: ClusterRegistration = {
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'ClusterRegistration',
  metadata: { name: 'request-1', namespace: 'ws', uid: '1' },
  spec: { clientID: declared.spec?.clientID ?? '' },
  status: { granted: true, clusterName: 'edge' },
};

/** What the registrar makes where this is known, and the Cluster says that it waits for its agent. */
async function made({ requests = [] as ClusterRegistration[], account = true } = {}): Promise<string[]> {
  const all: string[] = [];
  const known = (object: KubeObject | undefined) => ({
    get: () => object,
    byIndex: () => [],
    remember: () => undefined,
  });
  const context = {
    client: {
      create: async (type: ResourceType, object: KubeObject) => {
        all.push(`${type.kind} ${object.metadata.name ?? ''}`);
        return Promise.resolve(object);
      },
    },
    caches: { clusters: { addIndexers: () => undefined } },
    clusters: known(declared),
    tokens: known(undefined),
    requests: { ...known(undefined), byIndex: () => requests },
    serviceAccounts: known(account ? ({} as KubeObject) : undefined),
  };
  await createFleetRegistrar(context as never).ensure(wanted, new AbortController().signal);
  return all;
}

describe('the token of an agent that registers itself', () => {
  it('given no agent yet, then there is one', async () => {
    expect(await made()).toEqual(['ClusterRegistrationToken agent-token-edge']);
  });
  it('given an agent that was granted the Cluster, before that says so, then a used one is not made again', async () => {
    expect(await made({ requests: [granted] })).toEqual([]);
  });
  it('given an agent whose account was deleted, then there is one for the next', async () => {
    const again = await made({ requests: [granted], account: false });
    expect(again).toEqual(['ClusterRegistrationToken agent-token-edge']);
  });
});
