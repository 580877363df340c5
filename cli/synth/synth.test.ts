import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { objectsOf, SynthDesk } from '../../test/support/synth-desk.ts';

let desk: SynthDesk;
beforeEach(() => {
  desk = new SynthDesk();
});
afterEach(() => desk.close());

const values =
  'apiServerCA: ""\napiServerURL: https://hub\nclusterNamespace: fleet-default\nsystemRegistrationNamespace: r\n' +
  'token: secret-token\ntokenName: t\n';

describe('given muster synth without a folder', () => {
  test('when a set is named, then it is printed', async () => {
    await desk.run('synth', 'crds');
    expect(objectsOf(desk.output).map(({ kind }) => kind)).toContain('CustomResourceDefinition');
  });

  test('when ClusterProfile is asked for, then its definition is there, too', async () => {
    await desk.run('synth', 'crds');
    expect(desk.output).not.toContain('clusterprofiles');
    await desk.run('synth', 'crds', '--cluster-profiles');
    expect(desk.find('CustomResourceDefinition', 'clusterprofiles.multicluster.x-k8s.io')).toBeDefined();
  });

  test('when flags and properties are given, then the flags win', async () => {
    const props = desk.file(
      'props.yaml',
      'image: from-file\nconfig: {apiServerURL: "https://file", agentCheckinInterval: 5m}\n',
    );
    const ca = desk.file('ca.pem', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');
    const flags = ['--api-server-url', 'https://flag', '--api-server-ca', ca, '--workspace', 'team-a'];
    await desk.run('synth', 'hub', '--props', props, ...flags);
    const config: unknown = JSON.parse(desk.find('ConfigMap', 'fleet-controller')?.data['config'] ?? '');
    expect(config).toMatchObject({
      apiServerURL: 'https://flag',
      apiServerCA: readFileSync(ca).toString('base64'),
      agentCheckinInterval: '5m',
      agentImage: 'from-file',
    });
    expect(desk.find('Namespace', 'team-a')).toBeDefined();
    expect(desk.find('Namespace', 'fleet-default')).toBeUndefined();
  });

  test('when a cluster is asked for, then it is one object that refers to its kubeconfig', async () => {
    const props = desk.file('props.yaml', 'agent: {namespace: agents}\nlabels: {a: b, env: old}\n');
    const flags = ['--name', 'east', '--kubeconfig-secret', 'east-kubeconfig', '--label', 'env=dev'];
    await desk.run('synth', 'cluster', '--props', props, ...flags);
    expect(objectsOf(desk.output)).toEqual([
      {
        apiVersion: 'fleet.cattle.io/v1alpha1',
        kind: 'Cluster',
        metadata: { name: 'east', namespace: 'fleet-default', labels: { a: 'b', env: 'dev' } },
        spec: { kubeConfigSecret: 'east-kubeconfig', agentNamespace: 'agents' },
      },
    ]);
  });
});

describe('given muster synth of something with a credential', () => {
  test('when it is in clear, then nothing is printed or written', async () => {
    const path = desk.file('values.yaml', values);
    await expect(desk.run('synth', 'agent', '--values', path)).rejects.toThrow(
      expect.objectContaining({ code: 'SECRET_IN_CLEAR' }) as Error,
    );
    await expect(desk.run('synth', 'agent', '--values', path, '--out', desk.out)).rejects.toThrow(
      'fleet-agent-bootstrap',
    );
    expect(desk.output).toBe('');
    expect(readdirSync(desk.dir)).toEqual(['values.yaml']);
  });

  test('when the user wants it so, then it is printed, and a file is for its owner only', async () => {
    const flags = ['agent', '--values', desk.file('values.yaml', values), '--label', 'env=dev', '--client-id', 'c'];
    await desk.run('synth', ...flags, '--allow-secrets');
    expect(objectsOf(desk.output).map(({ kind }) => kind)).toEqual(expect.arrayContaining(['Secret', 'ConfigMap']));
    // A file that was there before, and open to others.
    await desk.run('synth', 'agent', '--out', desk.out);
    expect(statSync(join(desk.out, 'agent.yaml')).mode & 0o077).not.toBe(0);
    await desk.run('synth', ...flags, '--allow-secrets', '--out', desk.out);
    expect(statSync(join(desk.out, 'agent.yaml')).mode & 0o077).toBe(0);
    expect(desk.read('agent.yaml')).toContain('fleet-agent-bootstrap');
  });

  test('when it comes from External Secrets or is sealed, then flags are enough', async () => {
    const store = ['--external-secret', 'ClusterSecretStore/vault', '--external-secret-key', 'fleet/stores#values'];
    await desk.run('synth', 'agent', ...store);
    expect(desk.find('ExternalSecret', 'fleet-agent-bootstrap')).toMatchObject({
      spec: {
        secretStoreRef: { kind: 'ClusterSecretStore', name: 'vault' },
        data: [{ secretKey: 'values', remoteRef: { key: 'fleet/stores', property: 'values' } }],
      },
    });
    const sealed = {
      apiVersion: 'bitnami.com/v1alpha1',
      kind: 'SealedSecret',
      metadata: { name: 'east-kubeconfig', namespace: 'fleet-default' },
      spec: { encryptedData: { value: 'AgBy' } },
    };
    desk.output = '';
    await desk.run(
      'synth',
      'cluster',
      '--name',
      'east',
      '--sealed-secret',
      desk.file('sealed.json', JSON.stringify(sealed)),
    );
    expect(objectsOf(desk.output)).toMatchObject([
      sealed,
      { kind: 'Cluster', spec: { kubeConfigSecret: 'east-kubeconfig' } },
    ]);
  });
});

describe('given something wrong', () => {
  test.each<[string, string[], string]>([
    ['a cluster without a name', ['synth', 'cluster', '--client-id', 'x'], 'name'],
    ['a cluster without a way to register', ['synth', 'cluster', '--name', 'east'], 'clientID'],
    ['a group without a selector', ['synth', 'group', '--name', 'g'], 'selects nothing'],
    ['a rule without a source', ['synth', 'rule', '--name', 'r'], 'has no source'],
    ['a label without a value', ['synth', 'agent', '--label', 'env'], 'is "env"'],
    ['a file that is not there', ['synth', 'hub', '--api-server-ca', '/nonexistent/ca.pem'], 'cannot read'],
    ['a store without a key', ['synth', 'agent', '--external-secret', 'vault'], 'needs the other'],
    ['flux without a folder', ['synth', 'hub', '--ordering', 'flux'], 'needs --out'],
  ])('when it is %s, then that is refused with its place', async (_, argv, message) => {
    const failure = await desk.run(...argv).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect((failure as { describe(): string }).describe()).toContain(message);
  });

  test('when a property is not known, then it is named with those that are', async () => {
    const props = desk.file('props.yaml', 'image: a\ntolerationz: []\n');
    const failure = await desk.run('synth', 'agent', '--props', props).catch((error: unknown) => error);
    expect((failure as { describe(): string }).describe()).toMatch(/unknown: tolerationz.*tolerations/);
  });

  test.each<[string, string[]]>([
    ['a flag of another set', ['synth', 'hub', '--ttl', '1h']],
    ['properties without a set', ['synth', '--props', 'x']],
    ['a set that is none', ['synth', 'clusters']],
    ['two sets', ['synth', 'hub', 'agent']],
    ['an order that is none', ['synth', 'hub', '--ordering', 'helmfile']],
  ])('when it is %s, then the usage is told', async (_, argv) => {
    await expect(desk.run(...argv)).rejects.toMatchObject({ name: 'CommanderError', exitCode: 1 });
    expect(desk.said).toMatch(/^error: /);
  });
});

test('given muster version, when it runs, then it prints the version', async () => {
  await desk.run('version');
  expect(desk.output).toBe('0.1.0\n');
});
