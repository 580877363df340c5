import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import type { Deployment } from '../../../api/kubernetes/workloads.ts';
import { synthAgent } from '../../../components/fleet/index.ts';
import { agentProps, hubAddress, settingsRevision } from './edge-agent.ts';
import { isAllowedNamespace } from './edge-kubeconfig.ts';
import { appliedMessage, appliedOf, importNeed } from './import-state.ts';

const revision = '0123456789ab';
const tokenUid = 'abcdef01-2345-6789-abcd-ef0123456789';

function imported(message: string, changes: Partial<Cluster> = {}): Cluster {
  return {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'c', namespace: 'ws' },
    spec: {},
    status: { conditions: [{ type: 'Imported', status: 'True', reason: 'Succeeded', message }] },
    ...changes,
  };
}

describe('what an import has to do', () => {
  const applied = imported(appliedMessage({ revision, token: 'abcdef01' }));

  it('given what was written, when read back, then it is the same', () => {
    expect(appliedOf(applied)).toEqual({ revision, token: 'abcdef01' });
    expect(appliedOf(imported(appliedMessage({ revision, token: '' })))).toEqual({ revision, token: '' });
    expect(appliedOf(imported('anything else'))).toBeUndefined();
  });

  it.each([
    ['nothing applied', imported(''), revision, false, undefined, { apply: true, bootstrap: true }],
    ['all applied, agent not registered yet', applied, revision, false, tokenUid, { apply: false, bootstrap: true }],
    [
      'all applied, token renewed',
      applied,
      revision,
      false,
      `99999999${tokenUid.slice(8)}`,
      { apply: true, bootstrap: true },
    ],
    ['all applied, token expired', applied, revision, false, undefined, { apply: true, bootstrap: true }],
    ['registered', applied, revision, true, undefined, { apply: false, bootstrap: false }],
    ['registered, settings changed', applied, 'ffffffffffff', true, undefined, { apply: true, bootstrap: false }],
  ] as const)('given %s, when asked, then it is that', (_what, cluster, wanted, registered, uid, need) => {
    expect(importNeed(cluster, wanted, registered, uid)).toEqual(need);
  });

  it('given a redeploy of a registered agent, when asked, then it gets a bootstrap Secret, too', () => {
    const redeploy = { ...applied, spec: { redeployAgentGeneration: 2 } };
    expect(importNeed(redeploy, revision, true, undefined)).toEqual({ apply: true, bootstrap: true });
  });
});

describe('settings of the agent', () => {
  const address = { url: 'https://hub', ca: '' };
  const digest = (cluster: Cluster) =>
    settingsRevision(agentProps(cluster, { agentImage: 'muster:1' }), address, 'https://edge');
  const plain = imported('');

  it('given a changed label, when digested, then nothing has to be applied', () => {
    expect(digest({ ...plain, metadata: { ...plain.metadata, labels: { env: 'prod' } } })).toBe(digest(plain));
  });

  it.each([
    { agentEnvVars: [{ name: 'HTTPS_PROXY', value: 'x' }] },
    { agentTolerations: [{ key: 'k', operator: 'Exists' }] },
    { privateRepoURL: 'registry' },
    { hostNetwork: true },
    { agentNamespace: 'elsewhere' },
    { redeployAgentGeneration: 1 },
  ])('given %j, when digested, then the digest moves', (spec) => {
    expect(digest({ ...plain, spec })).not.toBe(digest(plain));
  });

  it('given an image of Fleet, when synthesized, then its own program runs with the rights it needs', () => {
    expect(agentProps(plain, { agentImage: 'rancher/fleet-agent:v0.16.1' })).toMatchObject({ program: 'fleet' });
    expect(agentProps(plain, { agentImage: 'muster:1' })).not.toHaveProperty('program');
  });

  it('given what the hub’s environment says of agents, then all of them get it, and a Cluster’s own word goes before it', () => {
    const election = { leaseDuration: '60s', renewDeadline: '50s' };
    const own = { ...plain, spec: { agentEnvVars: [{ name: 'CATTLE_ELECTION_LEASE_DURATION', value: '90s' }] } };
    const props = agentProps(own, {}, { replicas: 2, election });
    expect(props).toMatchObject({ replicas: 2 });
    const deployment = synthAgent(props).find(({ kind }) => kind === 'Deployment') as Deployment | undefined;
    const env = (deployment?.spec.template.spec as { containers: { env: { name: string; value?: string }[] }[] })
      .containers[0]?.env;
    const value = (name: string) => env?.find((each) => each.name === name)?.value;
    expect(value('CATTLE_ELECTION_LEASE_DURATION')).toBe('90s');
    expect(value('CATTLE_ELECTION_RENEW_DEADLINE')).toBe('50s');
    const digestOf = (replicas: number) =>
      settingsRevision(agentProps(plain, {}, { replicas }), address, 'https://edge');
    expect(digestOf(2)).not.toBe(digestOf(1));
  });

  it('given an address in the Secret, when asked, then it goes before that of the hub', () => {
    const config = { apiServerURL: 'https://a', apiServerCA: Buffer.from('ca').toString('base64') };
    expect(hubAddress(config, {})).toEqual({ url: 'https://a', ca: 'ca' });
    expect(hubAddress(config, { apiServerURL: 'https://b', apiServerCA: 'other' })).toEqual({
      url: 'https://b',
      ca: 'other',
    });
  });
});

describe('namespaces that a kubeconfig may come from', () => {
  it.each([
    ['ws', true],
    ['fleet-default', true],
    ['fleet-local', true],
    ['cattle-fleet-system', true],
    ['fleet-clusters-system', true],
    ['cluster-a', true],
    ['kube-system', false],
    ['default', false],
    ['my-cluster-a', false],
  ])('given %s, when asked, then %s', (namespace, allowed) => {
    expect(isAllowedNamespace(namespace, imported(''), 'cattle-fleet-system')).toBe(allowed);
  });
});
