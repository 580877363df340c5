import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../api/resource.ts';
import { createProgram } from '../program.ts';

let dir: string;
let output: string;
let said: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-synth-'));
  output = '';
  said = '';
});
afterEach(() => rmSync(dir, { recursive: true }));

async function run(...argv: string[]): Promise<void> {
  const program = createProgram((text) => {
    output += text;
  });
  const quiet = { writeErr: (text: string) => void (said += text), writeOut: () => undefined };
  const quieten = (command: typeof program): void => {
    command.configureOutput(quiet);
    command.commands.forEach((each) => quieten(each as typeof program));
  };
  quieten(program);
  await program.parseAsync(argv, { from: 'user' });
}
const objects = (text: string): KubeObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}
const out = () => join(dir, 'out');
const read = (...path: string[]) => readFileSync(join(out(), ...path), 'utf8');
const tree = (folder = out()): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
const contents = () => tree().map((path) => [path, read(path), statSync(join(out(), path)).mtimeMs]);
const find = (kind: string, name: string) =>
  objects(output).find((object) => object.kind === kind && object.metadata.name === name) as
    (KubeObject & { data: Record<string, string> }) | undefined;
const resources = (...path: string[]): unknown =>
  (parse(read(...path, 'Kustomization')) as { resources: unknown }).resources;

const values =
  'apiServerCA: ""\napiServerURL: https://hub\nclusterNamespace: fleet-default\nsystemRegistrationNamespace: r\n' +
  'token: secret-token\ntokenName: t\n';

describe('given muster synth with a folder', () => {
  test('when no set is named, then there is one file per set, and a second run touches nothing', async () => {
    await run('synth', '--out', out());
    expect(tree()).toEqual(['Kustomization', 'agent.yaml', 'crds.yaml', 'hub.yaml']);
    expect(output).toBe(
      ['crds.yaml', 'hub.yaml', 'agent.yaml', 'Kustomization'].map((name) => `${out()}/${name}\n`).join(''),
    );
    // The agent goes to another cluster than the hub.
    expect(resources()).toEqual(['crds.yaml', 'hub.yaml']);
    for (const name of ['crds.yaml', 'hub.yaml', 'agent.yaml'])
      expect(objects(read(name)).every(({ metadata }) => metadata.name)).toBe(true);
    const before = contents();
    await run('synth', '--out', out());
    expect(contents()).toEqual(before);
  });

  test('when registrations are added one by one, then each has its file and all are listed', async () => {
    await run('synth', 'hub', '--out', out());
    await run('synth', 'cluster', '--name', 'east', '--client-id', 'x', '--out', out());
    await run('synth', 'cluster', '--name', 'east', '--client-id', 'x', '--namespace', 'team-a', '--out', out());
    await run('synth', 'token', '--name', 'stores', '--ttl', '12h', '--one-use', '--out', out());
    await run('synth', 'group', '--name', 'edge', '--selector', 'tier=edge', '--out', out());
    const target = ['--target-group', 'edge', '--target-cluster', 'east'];
    await run(
      'synth',
      'gitrepo',
      '--name',
      'apps',
      '--repo',
      'https://git.test/a',
      '--path',
      'b',
      ...target,
      '--out',
      out(),
    );
    expect(resources()).toEqual([
      'hub.yaml',
      'cluster-east.yaml',
      'cluster-east.team-a.yaml',
      'token-stores.yaml',
      'group-edge.yaml',
      'gitrepo-apps.yaml',
    ]);
    expect(objects(read('token-stores.yaml'))).toMatchObject([
      { metadata: { annotations: { 'muster.dev/one-use': 'true' } }, spec: { ttl: '12h' } },
    ]);
    expect(objects(read('group-edge.yaml'))).toMatchObject([{ spec: { selector: { matchLabels: { tier: 'edge' } } } }]);
    expect(objects(read('gitrepo-apps.yaml'))).toMatchObject([
      { spec: { paths: ['b'], targets: [{ clusterName: 'east' }, { clusterGroup: 'edge' }] } },
    ]);
  });

  test('when a rule is written, then it has its source, and names what it selects', async () => {
    const props = file('rule.yaml', 'clusterName: "{namespace}-{name}"\ngroups: Class\n');
    const flags = ['--source', 'cluster-api', '--selector', 'env=prod', '--workspace', 'fleet-default'];
    await run('synth', 'rule', '--name', 'capi', '--props', props, ...flags, '--out', out());
    expect(objects(read('rule-capi.yaml'))).toEqual([
      {
        apiVersion: 'muster.dev/v1alpha1',
        kind: 'RegistrationRule',
        metadata: { name: 'capi' },
        spec: {
          source: { clusterAPI: {} },
          selector: { matchLabels: { env: 'prod' } },
          registration: { workspace: 'fleet-default', name: '{namespace}-{name}', groups: { by: 'Class' } },
        },
      },
    ]);
  });

  test('when there are files of the user, then they stay as they are', async () => {
    mkdirSync(out());
    const mine = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [ns.yaml] # mine\n';
    writeFileSync(join(out(), 'kustomization.yaml'), mine);
    writeFileSync(join(out(), 'ns.yaml'), 'kind: Namespace\n');
    await run('synth', 'crds', '--out', out());
    expect(tree()).toEqual(['crds.yaml', 'kustomization.yaml', 'ns.yaml']);
    expect(read('kustomization.yaml')).toContain('# mine');
    expect(parse(read('kustomization.yaml'))).toMatchObject({ resources: ['crds.yaml', 'ns.yaml'] });
    await run('synth', 'hub', '--no-kustomization', '--out', out());
    expect(read('kustomization.yaml')).not.toContain('hub.yaml');
  });

  test('when a file of somebody else is in the way, then nothing is written', async () => {
    mkdirSync(out());
    writeFileSync(join(out(), 'hub.yaml'), 'mine: true\n');
    await expect(run('synth', '--out', out())).rejects.toThrow('was not written by muster synth');
    expect(tree()).toEqual(['hub.yaml']);
  });

  test('when only an agent is written, then it is listed, until a hub comes', async () => {
    await run('synth', 'agent', '--out', out());
    expect(resources()).toEqual(['agent.yaml']);
    await run('synth', 'agent', '--out', out());
    expect(resources()).toEqual(['agent.yaml']);
    await run('synth', 'crds', '--out', out());
    expect(resources()).toEqual(['crds.yaml']);
  });

  test('when an agent is beside files of the user, then it is listed among them', async () => {
    mkdirSync(out());
    const mine = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [ns.yaml]\n';
    writeFileSync(join(out(), 'Kustomization'), mine);
    await run('synth', 'agent', '--out', out());
    expect(resources()).toEqual(['ns.yaml', 'agent.yaml']);
  });

  test('when it is ordered for Argo CD, then the objects have waves', async () => {
    await run('synth', 'crds', '--ordering', 'argo-cd', '--out', out());
    expect(objects(read('crds.yaml'))[0]?.metadata.annotations).toMatchObject({ 'argocd.argoproj.io/sync-wave': '-3' });
    await run('synth', 'hub', '--ordering', 'argo-cd');
    expect(output).toContain('argocd.argoproj.io/sync-wave');
  });
});

describe('given muster synth for Flux', () => {
  test('when sets are written, then each has its folder, and one Kustomization after the other', async () => {
    mkdirSync(join(out(), '.git'), { recursive: true });
    const fleet = join(out(), 'clusters', 'hub');
    const flux = ['--ordering', 'flux', '--out', fleet];
    await run('synth', 'crds', ...flux);
    await run('synth', 'hub', ...flux);
    await run('synth', 'cluster', '--name', 'east', '--client-id', 'x', ...flux, '--flux-source', 'fleet');
    expect(tree(fleet)).toEqual([
      'Kustomization',
      'crds/Kustomization',
      'crds/crds.yaml',
      'flux.yaml',
      'hub/Kustomization',
      'hub/hub.yaml',
      'registrations/Kustomization',
      'registrations/cluster-east.yaml',
    ]);
    expect(resources('clusters/hub')).toEqual(['flux.yaml']);
    expect(resources('clusters/hub/registrations')).toEqual(['cluster-east.yaml']);
    const spec = (path: string) => ({ path: `./clusters/hub/${path}`, sourceRef: { name: 'fleet' } });
    expect(objects(read('clusters/hub/flux.yaml'))).toMatchObject([
      { metadata: { name: 'muster-crds' }, spec: spec('crds') },
      { metadata: { name: 'muster-hub' }, spec: { ...spec('hub'), dependsOn: [{ name: 'muster-crds' }] } },
      { metadata: { name: 'muster-registrations' }, spec: spec('registrations') },
    ]);
    const before = contents();
    await run('synth', 'hub', ...flux, '--flux-source', 'fleet');
    expect(contents()).toEqual(before);
  });

  test('when no set is named, then the agent has its folder and is not applied to the hub', async () => {
    await run('synth', '--ordering', 'flux', '--flux-path', 'here', '--out', out());
    expect(tree()).toContain('agent/agent.yaml');
    expect(read('flux.yaml')).not.toContain('muster-agent');
    expect(read('flux.yaml')).toContain('path: ./here/hub');
  });

  test('when a folder was written in the other way, then that is refused', async () => {
    await run('synth', 'hub', '--out', out());
    await expect(run('synth', 'crds', '--ordering', 'flux', '--out', out())).rejects.toThrow('without --ordering flux');
    const flux = join(dir, 'flux');
    await run('synth', 'hub', '--ordering', 'flux', '--out', flux);
    await expect(run('synth', 'hub', '--out', flux)).rejects.toThrow('with --ordering flux');
  });
});

describe('given muster synth of a chart', () => {
  test('when it is written again, then nothing changes, and templates that are no more are removed', async () => {
    await run('synth', 'agent', '--format', 'helm', '--client-id', 'x', '--out', out());
    expect(parse(read('values.yaml'))).toMatchObject({ clientID: 'x' });
    const before = contents();
    const header = read('templates', 'deployments.yaml').split('\n')[0] ?? '';
    writeFileSync(join(out(), 'templates', 'old.yaml'), `${header}\nkind: Old\n`);
    writeFileSync(join(out(), 'templates', 'mine.yaml'), 'kind: Mine\n');
    output = '';
    await run('synth', 'agent', '--format', 'helm', '--client-id', 'x', '--out', out());
    expect(contents().filter(([path]) => path !== 'templates/mine.yaml')).toEqual(before);
    expect(tree()).toContain('templates/mine.yaml');
    expect(output).toContain('templates/old.yaml (removed)');
  });

  test.each<[string, string[], string]>([
    ['printed', ['synth', 'hub', '--format', 'helm'], 'helm needs --out'],
    ['with a namespace', ['synth', 'hub', '--format', 'helm', '--namespace', 'a', '--out', 'OUT'], 'of its release'],
    ['with an order', ['synth', 'hub', '--format', 'helm', '--ordering', 'flux', '--out', 'OUT'], 'order of its own'],
  ])('when it is %s, then that is refused', async (_, argv, message) => {
    await expect(run(...argv.map((each) => (each === 'OUT' ? out() : each)))).rejects.toThrow(message);
  });

  test('when the folder has another chart, then that is refused', async () => {
    await run('synth', 'crds', '--format', 'helm', '--out', out());
    await expect(run('synth', 'hub', '--format', 'helm', '--out', out())).rejects.toThrow('is another chart');
  });
});

describe('given muster synth without a folder', () => {
  test('when a set is named, then it is printed', async () => {
    await run('synth', 'crds');
    expect(objects(output).map(({ kind }) => kind)).toContain('CustomResourceDefinition');
  });

  test('when ClusterProfile is asked for, then its definition is there, too', async () => {
    await run('synth', 'crds');
    expect(output).not.toContain('clusterprofiles');
    await run('synth', 'crds', '--cluster-profiles');
    expect(find('CustomResourceDefinition', 'clusterprofiles.multicluster.x-k8s.io')).toBeDefined();
  });

  test('when flags and properties are given, then the flags win', async () => {
    const props = file(
      'props.yaml',
      'image: from-file\nconfig: {apiServerURL: "https://file", agentCheckinInterval: 5m}\n',
    );
    const ca = file('ca.pem', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');
    const flags = ['--api-server-url', 'https://flag', '--api-server-ca', ca, '--workspace', 'team-a'];
    await run('synth', 'hub', '--props', props, ...flags);
    const config: unknown = JSON.parse(find('ConfigMap', 'fleet-controller')?.data['config'] ?? '');
    expect(config).toMatchObject({
      apiServerURL: 'https://flag',
      apiServerCA: readFileSync(ca).toString('base64'),
      agentCheckinInterval: '5m',
      agentImage: 'from-file',
    });
    expect(find('Namespace', 'team-a')).toBeDefined();
    expect(find('Namespace', 'fleet-default')).toBeUndefined();
  });

  test('when a cluster is asked for, then it is one object that refers to its kubeconfig', async () => {
    const props = file('props.yaml', 'agent: {namespace: agents}\nlabels: {a: b, env: old}\n');
    const flags = ['--name', 'east', '--kubeconfig-secret', 'east-kubeconfig', '--label', 'env=dev'];
    await run('synth', 'cluster', '--props', props, ...flags);
    expect(objects(output)).toEqual([
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
    const path = file('values.yaml', values);
    await expect(run('synth', 'agent', '--values', path)).rejects.toThrow(
      expect.objectContaining({ code: 'SECRET_IN_CLEAR' }) as Error,
    );
    await expect(run('synth', 'agent', '--values', path, '--out', out())).rejects.toThrow('fleet-agent-bootstrap');
    expect(output).toBe('');
    expect(readdirSync(dir)).toEqual(['values.yaml']);
  });

  test('when the user wants it so, then it is printed, and a file is for its owner only', async () => {
    const flags = ['agent', '--values', file('values.yaml', values), '--label', 'env=dev', '--client-id', 'c'];
    await run('synth', ...flags, '--allow-secrets');
    expect(objects(output).map(({ kind }) => kind)).toEqual(expect.arrayContaining(['Secret', 'ConfigMap']));
    // A file that was there before, and open to others.
    await run('synth', 'agent', '--out', out());
    expect(statSync(join(out(), 'agent.yaml')).mode & 0o077).not.toBe(0);
    await run('synth', ...flags, '--allow-secrets', '--out', out());
    expect(statSync(join(out(), 'agent.yaml')).mode & 0o077).toBe(0);
    expect(read('agent.yaml')).toContain('fleet-agent-bootstrap');
  });

  test('when it comes from External Secrets or is sealed, then flags are enough', async () => {
    const store = ['--external-secret', 'ClusterSecretStore/vault', '--external-secret-key', 'fleet/stores#values'];
    await run('synth', 'agent', ...store);
    expect(find('ExternalSecret', 'fleet-agent-bootstrap')).toMatchObject({
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
    output = '';
    await run('synth', 'cluster', '--name', 'east', '--sealed-secret', file('sealed.json', JSON.stringify(sealed)));
    expect(objects(output)).toMatchObject([sealed, { kind: 'Cluster', spec: { kubeConfigSecret: 'east-kubeconfig' } }]);
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
    const failure = await run(...argv).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect((failure as { describe(): string }).describe()).toContain(message);
  });

  test('when a property is not known, then it is named with those that are', async () => {
    const props = file('props.yaml', 'image: a\ntolerationz: []\n');
    const failure = await run('synth', 'agent', '--props', props).catch((error: unknown) => error);
    expect((failure as { describe(): string }).describe()).toMatch(/unknown: tolerationz.*tolerations/);
  });

  test.each<[string, string[]]>([
    ['a flag of another set', ['synth', 'hub', '--ttl', '1h']],
    ['properties without a set', ['synth', '--props', 'x']],
    ['a set that is none', ['synth', 'clusters']],
    ['two sets', ['synth', 'hub', 'agent']],
    ['an order that is none', ['synth', 'hub', '--ordering', 'helmfile']],
  ])('when it is %s, then the usage is told', async (_, argv) => {
    await expect(run(...argv)).rejects.toMatchObject({ name: 'CommanderError', exitCode: 1 });
    expect(said).toMatch(/^error: /);
  });
});

test('given muster version, when it runs, then it prints the version', async () => {
  await run('version');
  expect(output).toBe('0.1.0\n');
});
