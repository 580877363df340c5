import { describe, expect, test } from 'vitest';
import { toCustomResourceDefinition } from '../../api/crd.ts';
import { fleetDescriptors } from '../../api/fleet/index.ts';
import type { ConfigMap } from '../../api/kubernetes/core.ts';
import type { Role } from '../../api/kubernetes/rbac.ts';
import type { KubeObject } from '../../api/resource.ts';
import { grantRoles, synthCrds, synthHub } from './index.ts';

const props = { image: 'muster:test', config: { apiServerURL: 'https://hub.example.com' } };
const objects = synthHub(props);
const ids = (list: KubeObject[]): string[] =>
  list.map(({ kind, metadata }) => `${kind} ${[metadata.namespace, metadata.name].filter(Boolean).join('/')}`);
const rules = (list: KubeObject[]) => list.flatMap((object) => (object as Role).rules ?? []);

describe('given the least props', () => {
  test('the objects are these, in this order', () => {
    expect(ids(objects)).toEqual([
      'Namespace cattle-fleet-clusters-system',
      'Namespace cattle-fleet-system',
      'Namespace fleet-default',
      'Namespace fleet-local',
      'ValidatingAdmissionPolicy muster-agent-status',
      'ValidatingAdmissionPolicy muster-agent-tokens',
      'ValidatingAdmissionPolicy muster-hub-bindings',
      'ValidatingAdmissionPolicy muster-hub-deletions',
      'ValidatingAdmissionPolicy muster-hub-namespaces',
      'ValidatingAdmissionPolicy muster-hub-profiles',
      'ValidatingAdmissionPolicy muster-hub-roles',
      'ValidatingAdmissionPolicy muster-hub-scope',
      'ValidatingAdmissionPolicy muster-hub-sources',
      'ValidatingAdmissionPolicy muster-source-marks',
      'ValidatingAdmissionPolicyBinding muster-agent-status',
      'ValidatingAdmissionPolicyBinding muster-agent-tokens',
      'ValidatingAdmissionPolicyBinding muster-hub-bindings',
      'ValidatingAdmissionPolicyBinding muster-hub-deletions',
      'ValidatingAdmissionPolicyBinding muster-hub-namespaces',
      'ValidatingAdmissionPolicyBinding muster-hub-profiles',
      'ValidatingAdmissionPolicyBinding muster-hub-roles',
      'ValidatingAdmissionPolicyBinding muster-hub-scope',
      'ValidatingAdmissionPolicyBinding muster-hub-sources',
      'ValidatingAdmissionPolicyBinding muster-source-marks',
      'ServiceAccount cattle-fleet-system/muster-hub',
      'ClusterRole fleet-bundle-deployment',
      'ClusterRole fleet-content',
      'ClusterRole muster-cluster-status',
      'ClusterRole muster-credential-renewal',
      'ClusterRole muster-hub',
      'ClusterRole muster-hub-namespace',
      'ClusterRole muster-hub-source',
      'ClusterRoleBinding muster-hub',
      'Role cattle-fleet-system/muster-hub',
      'RoleBinding cattle-fleet-clusters-system/muster-hub-namespace',
      'RoleBinding cattle-fleet-system/muster-hub',
      'RoleBinding fleet-default/muster-hub-namespace',
      'RoleBinding fleet-local/muster-hub-namespace',
      'ConfigMap cattle-fleet-system/fleet-controller',
      'Deployment cattle-fleet-system/muster-hub',
    ]);
  });

  test('they are as recorded', () => {
    expect(objects).toMatchSnapshot();
  });

  test('no rule has a wildcard, and none reads Secrets cluster-wide', () => {
    const wide = rules(objects).filter((rule) =>
      [...rule.verbs, ...(rule.resources ?? []), ...(rule.apiGroups ?? [])].includes('*'),
    );
    expect(wide).toEqual([]);
    const hub = objects.filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'muster-hub');
    expect(rules(hub).filter(({ resources }) => resources?.includes('secrets'))).toEqual([]);
  });

  test('the hub may bind the known ClusterRoles only, and escalate nowhere cluster-wide', () => {
    const hub = objects.filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'muster-hub');
    expect(rules(hub).filter(({ verbs }) => verbs.includes('bind') || verbs.includes('escalate'))).toEqual([
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['clusterroles'],
        resourceNames: Object.values(grantRoles),
        verbs: ['bind'],
      },
    ]);
  });

  test('agents run the same image unless the configuration names another one', () => {
    const config = objects.find(({ kind }) => kind === 'ConfigMap') as ConfigMap;
    expect(JSON.parse(config.data?.['config'] ?? '')).toMatchObject({
      agentImage: 'muster:test',
      apiServerURL: 'https://hub.example.com',
    });
  });
});

describe('given a certificate authority', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  const encoded = Buffer.from(pem).toString('base64');

  test.each([
    ['PEM text', pem],
    ['base64', encoded],
  ])('as %s, when synthesized, then the ConfigMap holds base64', (_, apiServerCA) => {
    const config = synthHub({ image: 'muster:test', config: { apiServerCA } }).find(({ kind }) => kind === 'ConfigMap');
    expect(JSON.parse((config as ConfigMap).data?.['config'] ?? '')).toMatchObject({ apiServerCA: encoded });
  });

  test('that is none, when synthesized, then it is refused', () => {
    expect(() => synthHub({ image: 'muster:test', config: { apiServerCA: 'bm9uZQ==' } })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', where: 'config.apiServerCA' }) as Error,
    );
  });
});

test('given the same props again, when synthesized, then the bytes are the same', () => {
  expect(JSON.stringify(synthHub(props))).toBe(JSON.stringify(objects));
  const two = { ...props, workspaces: ['b', 'a'] };
  expect(JSON.stringify(synthHub(two))).toBe(JSON.stringify(synthHub({ ...props, workspaces: ['a', 'b', 'a'] })));
});

test('given another system namespace, when synthesized, then every object follows', () => {
  const other = JSON.stringify(synthHub({ ...props, namespace: 'fleet-system', workspaces: ['team-a'] }));
  expect(other).not.toContain('cattle-fleet-system');
  expect(other).toContain('fleet-clusters-system');
  expect(other).toContain('system:serviceaccount:fleet-system:muster-hub');
});

test('given the kinds, when their definitions are synthesized, then each is there once, sorted', () => {
  const names = synthCrds().map(({ metadata }) => metadata.name ?? '');
  expect(names).toEqual([...new Set(names)].sort());
  expect(names).toContain('clusters.fleet.cattle.io');
  expect(names).toContain('contents.fleet.cattle.io');
  expect(synthCrds()).toEqual(synthCrds());
});

test('given a definition, when it went through cdk8s, then nothing of it is lost', () => {
  const byName = new Map(synthCrds().map((crd) => [crd.metadata.name, crd]));
  for (const descriptor of fleetDescriptors) {
    const wanted = toCustomResourceDefinition(descriptor);
    expect(byName.get(wanted.metadata.name)).toEqual(JSON.parse(JSON.stringify(wanted)));
  }
});
