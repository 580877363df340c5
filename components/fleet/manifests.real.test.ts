import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeObject, ObjectKey } from '../../api/resource.ts';
import { covers } from '../../runtime/kube/apply.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane, poll } from '../../test/harness/index.ts';
import { AdmissionPolicies, resourceTypeOf } from './kinds.ts';
import { synthAgent, synthCrds, synthHub } from './index.ts';
import type { AgentProps } from './index.ts';

const bootstrap = {
  clusterNamespace: 'fleet-default',
  apiServerURL: 'https://hub.example.com',
  apiServerCA: '',
  token: 'bootstrap-token',
  tokenName: 'token-a',
  systemRegistrationNamespace: 'cattle-fleet-clusters-system',
};
const everything: AgentProps = {
  image: 'muster:test',
  namespace: 'edge-system',
  agentScope: 'edge-system',
  envVars: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
  tolerations: [{ key: 'edge', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 }],
  resources: { limits: { memory: '256Mi' }, requests: { cpu: '50m' } },
  hostNetwork: true,
  imagePullSecrets: ['pull'],
  replicas: 2,
  schedulingCustomization: { priorityClass: { value: 1000 }, podDisruptionBudget: { maxUnavailable: '50%' } },
  labels: { env: 'on', hex: '0x1f' },
  bootstrap,
  redeployGeneration: 1,
  deploysWorkloads: true,
};

let plane: ControlPlane;
let admin: KubeClient;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'manifests' });
  admin = plane.client();
});
afterAll(async () => {
  await admin?.close();
  await plane?.close();
});

async function apply(object: KubeObject): Promise<KubeObject> {
  return await admin.apply(resourceTypeOf(object), object, { fieldManager: 'muster' });
}

function keyFor({ metadata: { name = '', namespace } }: KubeObject): ObjectKey {
  return namespace === undefined ? { name } : { namespace, name };
}

describe.each<[string, () => KubeObject[]]>([
  ['the definitions', synthCrds],
  ['a hub', () => synthHub({ image: 'muster:test', config: { apiServerURL: 'https://hub.example.com' } })],
  ['a hub on the node network', () => synthHub({ image: 'muster:next', config: {}, hostNetwork: true, replicas: 2 })],
  ['the least agent', () => synthAgent({ image: 'muster:test' })],
  ['an agent with every prop', () => synthAgent(everything)],
])('given %s', (_, synth) => {
  test('when applied in order and then again, then all is accepted and nothing changes', async () => {
    for (const object of synth()) await apply(object);
    for (const object of synth()) {
      const what = `${object.kind} ${object.metadata.name ?? ''}`;
      const stored = await admin.get(resourceTypeOf(object), keyFor(object));
      expect(covers(stored, object), what).toBe(true);
      const again = await apply(object);
      // Controllers write status meanwhile, which only objects with a generation have.
      const { generation, resourceVersion } = stored.metadata;
      if (generation === undefined) expect(again.metadata.resourceVersion, what).toBe(resourceVersion);
      else expect(again.metadata.generation, what).toBe(generation);
    }
  });
});

test('given the policies, when the API server has checked their types, then it has no warning', async () => {
  interface Policy extends KubeObject {
    status?: { typeChecking?: { expressionWarnings?: unknown[] } };
  }
  const policies = synthHub({ image: 'muster:test', config: {} }).filter(({ kind }) => kind === AdmissionPolicies.kind);
  for (const { metadata } of policies) {
    const look = async () => {
      const policy: Policy = await admin.get(AdmissionPolicies, { name: metadata.name ?? '' });
      return policy.status?.typeChecking;
    };
    const checked = await poll(look, { what: `the type check of ${metadata.name ?? ''}` });
    expect(checked.expressionWarnings ?? []).toEqual([]);
  }
});
