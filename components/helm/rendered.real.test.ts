/** What the real helm makes of charts with settings that no value has, without a cluster. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../api/resource.ts';
import { binary } from '../../test/harness/binaries.ts';
import { currentRun } from '../../test/harness/index.ts';
import { comparable, writeChart } from '../../test/support/helm-charts.ts';
import { synthAgent, synthHub } from '../fleet/index.ts';
import type { AgentProps, HubProps } from '../fleet/index.ts';
import { agentChart, hubChart } from './index.ts';
import type { ChartFile } from './index.ts';

const run = promisify(execFile);
const ca = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';

async function rendered(files: readonly ChartFile[], namespace: string): Promise<unknown[]> {
  const dir = (await currentRun()).makeDir('helm-template');
  const args = ['template', 'release', writeChart(join(dir, 'chart'), files), '--namespace', namespace];
  const env = { ...process.env, HOME: dir };
  const { stdout } = await run(await binary('helm'), args, { env, maxBuffer: 64 * 1024 * 1024 });
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject | null);
  return comparable(objects.filter((object) => object !== null));
}

describe('given every setting that only muster synth has', () => {
  const store = { secretStoreRef: { name: 'vault' }, remoteRef: { key: 'k' } };
  const pod = {
    hostNetwork: true,
    replicas: 3,
    tolerations: [{ key: 'edge', operator: 'Exists', tolerationSeconds: 60 }],
    imagePullSecrets: ['b', { externalSecret: { ...store, name: 'a' } }],
  };
  const local = { namespace: 'fleet-local', agentNamespace: 'local-system', clusterLabels: { b: '1', a: '2' } };
  const hubs: Record<string, HubProps> = {
    'a hub with its own cluster and an inventory': {
      image: 'muster:test',
      ...pod,
      envVars: [
        { name: 'MUSTER_PROBE_BIND_ADDRESS', value: '127.0.0.1:9081' },
        { name: 'HTTPS_PROXY', value: 'http://proxy' },
      ],
      config: {
        apiServerURL: 'https://hub.example.com',
        apiServerCA: ca,
        agentCheckinInterval: '5m',
        bootstrap: local,
        inventory: { clusterProfiles: true, argoCD: { namespace: 'argocd' } },
      },
      workspaces: ['fleet-local', 'team-a'],
    },
  };
  const agents: Record<string, AgentProps> = {
    'an agent with everything': {
      image: 'muster:test',
      clientID: 'store-17',
      labels: { env: 'edge', zone: 'b' },
      ...pod,
      agentScope: 'x',
      schedulingCustomization: { priorityClass: { value: 10 }, podDisruptionBudget: { maxUnavailable: '1' } },
      agentTLSMode: 'strict',
      garbageCollectionInterval: '30m',
      redeployGeneration: 3,
      deploysWorkloads: true,
      affinity: { nodeAffinity: {} },
      bootstrapSecret: { externalSecret: store },
    },
    'an agent of Fleet': { image: 'rancher/fleet-agent:v0.16.1', privateRepoURL: 'mirror.test' },
  };

  test.each(Object.entries(hubs))('when %s is rendered, then it is the plain manifests', async (_, props) => {
    const system = 'mine-system';
    const plain = synthHub({ ...props, namespace: system });
    const made = plain.filter(({ kind, metadata }) => !isMadeByOthers(kind, metadata.name, system));
    expect(await rendered(hubChart(props), system)).toEqual(comparable(made));
  });

  test.each(Object.entries(agents))('when %s is rendered, then it is the plain manifests', async (_, props) => {
    const plain = synthAgent({ ...props, namespace: 'edge' });
    const made = plain.filter(({ kind, metadata }) => !isMadeByOthers(kind, metadata.name, 'edge'));
    expect(await rendered(agentChart(props), 'edge')).toEqual(comparable(made));
  });

  const isMadeByOthers = (kind: string, name: string | undefined, namespace: string) =>
    (kind === 'Namespace' && name === namespace) || (kind === 'ServiceAccount' && name === 'default');
});
