import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConfigMap, Secret } from '../../api/kubernetes/core.ts';
import type { Role } from '../../api/kubernetes/rbac.ts';
import type { Deployment } from '../../api/kubernetes/workloads.ts';
import type { KubeObject } from '../../api/resource.ts';
import { synthAgent } from './index.ts';
import type { AgentProps } from './index.ts';

const image = 'muster:test';
const bootstrap = {
  clusterNamespace: 'fleet-default',
  apiServerURL: 'https://hub.example.com',
  apiServerCA: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  token: 'bootstrap-token',
  tokenName: 'token-a',
  systemRegistrationNamespace: 'cattle-fleet-clusters-system',
};
const everything: AgentProps = {
  image: 'registry.one/muster:test',
  imagePullPolicy: 'Never',
  namespace: 'edge-system',
  command: ['fleetagent'],
  privateRepoURL: 'registry.two:5000',
  systemDefaultRegistry: 'registry.one',
  agentScope: 'edge-system',
  checkinInterval: '1m',
  envVars: [
    { name: 'HTTPS_PROXY', value: 'http://proxy:3128' },
    { name: 'FLEET_AGENT_PROBE_BIND_ADDRESS', value: '127.0.0.1:9081' },
    { name: 'FLEET_AGENT_METRICS_BIND_ADDRESS', value: '0' },
  ],
  tolerations: [{ key: 'edge', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: { podAntiAffinity: {} },
  resources: { limits: { memory: '256Mi' } },
  hostNetwork: true,
  imagePullSecrets: ['pull-b', { name: 'pull-a' }],
  replicas: 2,
  schedulingCustomization: {
    priorityClass: { value: 1000, preemptionPolicy: 'Never' },
    podDisruptionBudget: { minAvailable: '1' },
  },
  clientID: 'client-a',
  labels: { zone: 'b', env: 'dev' },
  agentTLSMode: 'strict',
  garbageCollectionInterval: '30m',
  workers: { bundledeployment: '5', drift: '6' },
  bootstrap,
  redeployGeneration: 3,
  deploysWorkloads: true,
};

const ids = (objects: KubeObject[]): string[] =>
  objects.map(({ kind, metadata }) => `${kind} ${[metadata.namespace, metadata.name].filter(Boolean).join('/')}`);
function find<T extends KubeObject>(objects: KubeObject[], kind: string, name: string): T {
  const object = objects.find((candidate) => candidate.kind === kind && candidate.metadata.name === name);
  if (object === undefined) throw new Error(`no ${kind} ${name}`);
  return object as T;
}
interface Container {
  readonly image: string;
  readonly env: { name: string; value?: string }[];
  readonly ports?: { name: string; containerPort: number }[];
  readonly readinessProbe?: { httpGet: Record<string, unknown> };
}
function container(objects: KubeObject[]): Container {
  const { containers } = find<Deployment>(objects, 'Deployment', 'fleet-agent').spec.template.spec;
  return (containers as [Container])[0];
}

describe('given the least props', () => {
  const objects = synthAgent({ image });

  test('the objects are these, in this order', () => {
    expect(ids(objects)).toEqual([
      'Namespace cattle-fleet-system',
      'ServiceAccount cattle-fleet-system/fleet-agent',
      'ClusterRole cattle-fleet-system-fleet-agent-role',
      'ClusterRoleBinding cattle-fleet-system-fleet-agent-role-binding',
      'Role cattle-fleet-system/fleet-agent',
      'RoleBinding cattle-fleet-system/fleet-agent',
      'NetworkPolicy cattle-fleet-system/default-allow-all',
      'Deployment cattle-fleet-system/fleet-agent',
      'ServiceAccount cattle-fleet-system/default',
    ]);
  });

  test('they are as recorded', () => {
    expect(objects).toMatchSnapshot();
  });

  test('the agent has no right beyond registering', () => {
    const rules = [...objects].flatMap((object) => (object as Role).rules ?? []);
    expect(rules.filter(({ verbs, resources }) => verbs.includes('*') || resources?.includes('*'))).toEqual([]);
    expect(find<Role>(objects, 'ClusterRole', 'cattle-fleet-system-fleet-agent-role').rules).toEqual([
      { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
    ]);
  });
});

describe('given an image of Fleet', () => {
  const objects = synthAgent({ image: 'rancher/fleet-agent:v0.16.1' });

  test('its own program runs, with every right, and nobody asks for a health that only the leader tells', () => {
    expect(container(objects)).toMatchObject({ command: ['fleetagent'] });
    expect(container(objects)).not.toHaveProperty('readinessProbe');
    expect(container(objects)).not.toHaveProperty('livenessProbe');
    expect(find(objects, 'ClusterRole', 'cattle-fleet-system-fleet-agent-role')).toMatchObject({
      rules: [
        { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
        { nonResourceURLs: ['*'], verbs: ['*'] },
      ],
    });
  });

  test('the program can be named for an image of another name, and the rights be taken away', () => {
    const mirrored = synthAgent({ image: 'mirror.test/f:1', program: 'fleet', deploysWorkloads: false });
    expect(container(mirrored)).toMatchObject({ command: ['fleetagent'] });
    expect(find(mirrored, 'ClusterRole', 'cattle-fleet-system-fleet-agent-role')).not.toMatchObject({
      rules: [{ apiGroups: ['*'] }],
    });
    const ours = synthAgent({ image: 'mirror.test/fleet-agent:1', program: 'muster' });
    expect(container(ours)).toMatchObject({ command: ['muster', 'agent'] });
    expect(container(ours)).toHaveProperty('readinessProbe');
  });
});

describe('given every prop', () => {
  const objects = synthAgent(everything);

  test('they are as recorded', () => {
    expect(objects).toMatchSnapshot();
  });

  test('the bootstrap Secret has the keys that agents of Fleet read', () => {
    const { data } = find<Secret>(objects, 'Secret', 'fleet-agent-bootstrap');
    const plain = Object.fromEntries(
      Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
    expect(plain).toEqual(bootstrap);
  });

  test('the ConfigMap has the keys that agents of Fleet read', () => {
    const { data } = find<ConfigMap>(objects, 'ConfigMap', 'fleet-agent');
    expect(JSON.parse(data?.['config'] ?? '')).toEqual({
      labels: { env: 'dev', zone: 'b' },
      clientID: 'client-a',
      agentTLSMode: 'strict',
      garbageCollectionInterval: '30m',
    });
  });

  test('the probes follow the address in the environment, and a port that is off is not declared', () => {
    const { readinessProbe, ports } = container(objects);
    expect(readinessProbe?.httpGet).toEqual({ host: '127.0.0.1', path: '/readyz', port: 9081, scheme: 'HTTP' });
    expect(ports?.map(({ name, containerPort }) => [name, containerPort])).toEqual([['health', 9081]]);
  });

  test('the image comes from the private registry', () => {
    expect(container(objects).image).toBe('registry.two:5000/muster:test');
  });
});

test('given a probe address that the kubelet cannot reach, when synthesized, then there are no probes', () => {
  const envVars = [{ name: 'FLEET_AGENT_PROBE_BIND_ADDRESS', value: '127.0.0.1:9081' }];
  expect(container(synthAgent({ image, envVars })).readinessProbe).toBeUndefined();
});

test('a probe goes to the address of the pod when the address is a variable, which the kubelet puts in elsewhere', () => {
  const envVars = [{ name: 'FLEET_AGENT_PROBE_BIND_ADDRESS', value: '$(HOST_IP):9081' }];
  const probe = container(synthAgent({ image, envVars, hostNetwork: true })).readinessProbe;
  expect(probe?.httpGet).toEqual({ path: '/readyz', port: 9081, scheme: 'HTTP' });
});

test('given an address that is none, when synthesized, then the error names the variable', () => {
  const envVars = [{ name: 'FLEET_AGENT_PROBE_BIND_ADDRESS', value: '8081' }];
  expect(() => synthAgent({ image, envVars })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', where: 'env FLEET_AGENT_PROBE_BIND_ADDRESS' }) as Error,
  );
});

test('given a namespace with a long name, when synthesized, then cluster-scoped names stay valid and unique', () => {
  const namespace = 'a'.repeat(60);
  const names = synthAgent({ image, namespace })
    .filter(({ kind }) => kind.startsWith('ClusterRole'))
    .map(({ metadata }) => metadata.name ?? '');
  expect(names.map((name) => name.length)).toEqual([63, 63]);
  expect(new Set(names).size).toBe(2);
});

test('given another redeploy generation, when synthesized, then nothing but the pod template changes', () => {
  const rest = (objects: KubeObject[]) => objects.filter(({ kind }) => kind !== 'Deployment');
  const [one, two] = [
    synthAgent({ ...everything, redeployGeneration: 1 }),
    synthAgent({ ...everything, redeployGeneration: 2 }),
  ];
  expect(rest(one)).toEqual(rest(two));
  expect(one).not.toEqual(two);
});

test('given lists in another order, when synthesized, then the bytes are the same', () => {
  const tolerations = ['a', 'b', 'c'].map((key) => ({ key, operator: 'Exists', effect: 'NoExecute' }));
  const pullSecrets = ['x', 'y', 'z'];
  const envVars = ['E1', 'E2', 'E3'].map((name) => ({ name, value: 'v' }));
  const labels = { a: '1', b: '2', c: '3' };
  const bytes = (props: Partial<AgentProps>) => JSON.stringify(synthAgent({ image, bootstrap, ...props }));
  const expected = bytes({ tolerations, imagePullSecrets: pullSecrets, envVars, labels });
  const shuffled = <T>(items: T[]) => fc.shuffledSubarray(items, { minLength: items.length });
  fc.assert(
    fc.property(
      shuffled(tolerations),
      shuffled(pullSecrets),
      shuffled(envVars),
      shuffled(Object.entries(labels)),
      (t, i, e, l) => {
        const props = { tolerations: t, imagePullSecrets: i, envVars: e, labels: Object.fromEntries(l) };
        expect(bytes(props)).toBe(expected);
      },
    ),
    { numRuns: 20 },
  );
});
