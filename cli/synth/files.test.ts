import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { objectsOf, SynthDesk } from '../../test/support/synth-desk.ts';

let desk: SynthDesk;
beforeEach(() => {
  desk = new SynthDesk();
});
afterEach(() => desk.close());

describe('given muster synth with a folder', () => {
  test('when no set is named, then there is one file per set, and a second run touches nothing', async () => {
    await desk.run('synth', '--out', desk.out);
    expect(desk.tree()).toEqual(['Kustomization', 'agent.yaml', 'crds.yaml', 'hub.yaml']);
    expect(desk.output).toBe(
      ['crds.yaml', 'hub.yaml', 'agent.yaml', 'Kustomization'].map((name) => `${desk.out}/${name}\n`).join(''),
    );
    // The agent goes to another cluster than the hub.
    expect(desk.resources()).toEqual(['crds.yaml', 'hub.yaml']);
    for (const name of ['crds.yaml', 'hub.yaml', 'agent.yaml'])
      expect(objectsOf(desk.read(name)).every(({ metadata }) => metadata.name)).toBe(true);
    const before = desk.contents();
    await desk.run('synth', '--out', desk.out);
    expect(desk.contents()).toEqual(before);
  });

  test('when registrations are added one by one, then each has its file and all are listed', async () => {
    await desk.run('synth', 'hub', '--out', desk.out);
    await desk.run('synth', 'cluster', '--name', 'east', '--client-id', 'x', '--out', desk.out);
    await desk.run(
      'synth',
      'cluster',
      '--name',
      'east',
      '--client-id',
      'x',
      '--namespace',
      'team-a',
      '--out',
      desk.out,
    );
    await desk.run('synth', 'token', '--name', 'stores', '--ttl', '12h', '--one-use', '--out', desk.out);
    await desk.run('synth', 'group', '--name', 'edge', '--selector', 'tier=edge', '--out', desk.out);
    const target = ['--target-group', 'edge', '--target-cluster', 'east'];
    await desk.run(
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
      desk.out,
    );
    expect(desk.resources()).toEqual([
      'hub.yaml',
      'cluster-east.yaml',
      'cluster-east.team-a.yaml',
      'token-stores.yaml',
      'group-edge.yaml',
      'gitrepo-apps.yaml',
    ]);
    expect(objectsOf(desk.read('token-stores.yaml'))).toMatchObject([
      { metadata: { annotations: { 'muster.dev/one-use': 'true' } }, spec: { ttl: '12h' } },
    ]);
    expect(objectsOf(desk.read('group-edge.yaml'))).toMatchObject([
      { spec: { selector: { matchLabels: { tier: 'edge' } } } },
    ]);
    expect(objectsOf(desk.read('gitrepo-apps.yaml'))).toMatchObject([
      { spec: { paths: ['b'], targets: [{ clusterName: 'east' }, { clusterGroup: 'edge' }] } },
    ]);
  });

  test('when a rule is written, then it has its source, and names what it selects', async () => {
    const props = desk.file('rule.yaml', 'clusterName: "{namespace}-{name}"\ngroups: Class\n');
    const flags = ['--source', 'cluster-api', '--selector', 'env=prod', '--workspace', 'fleet-default'];
    await desk.run('synth', 'rule', '--name', 'capi', '--props', props, ...flags, '--out', desk.out);
    expect(objectsOf(desk.read('rule-capi.yaml'))).toEqual([
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
    mkdirSync(desk.out);
    const mine = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [ns.yaml] # mine\n';
    writeFileSync(join(desk.out, 'kustomization.yaml'), mine);
    writeFileSync(join(desk.out, 'ns.yaml'), 'kind: Namespace\n');
    await desk.run('synth', 'crds', '--out', desk.out);
    expect(desk.tree()).toEqual(['crds.yaml', 'kustomization.yaml', 'ns.yaml']);
    expect(desk.read('kustomization.yaml')).toContain('# mine');
    expect(parse(desk.read('kustomization.yaml'))).toMatchObject({ resources: ['crds.yaml', 'ns.yaml'] });
    await desk.run('synth', 'hub', '--no-kustomization', '--out', desk.out);
    expect(desk.read('kustomization.yaml')).not.toContain('hub.yaml');
  });

  test('when a file of somebody else is in the way, then nothing is written', async () => {
    mkdirSync(desk.out);
    writeFileSync(join(desk.out, 'hub.yaml'), 'mine: true\n');
    await expect(desk.run('synth', '--out', desk.out)).rejects.toThrow('was not written by muster synth');
    expect(desk.tree()).toEqual(['hub.yaml']);
  });

  test('when only an agent is written, then it is listed, until a hub comes', async () => {
    await desk.run('synth', 'agent', '--out', desk.out);
    expect(desk.resources()).toEqual(['agent.yaml']);
    await desk.run('synth', 'agent', '--out', desk.out);
    expect(desk.resources()).toEqual(['agent.yaml']);
    await desk.run('synth', 'crds', '--out', desk.out);
    expect(desk.resources()).toEqual(['crds.yaml']);
  });

  test('when an agent is beside files of the user, then it is listed among them', async () => {
    mkdirSync(desk.out);
    const mine = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [ns.yaml]\n';
    writeFileSync(join(desk.out, 'Kustomization'), mine);
    await desk.run('synth', 'agent', '--out', desk.out);
    expect(desk.resources()).toEqual(['ns.yaml', 'agent.yaml']);
  });

  test('when it is ordered for Argo CD, then the objects have waves', async () => {
    await desk.run('synth', 'crds', '--ordering', 'argo-cd', '--out', desk.out);
    expect(objectsOf(desk.read('crds.yaml'))[0]?.metadata.annotations).toMatchObject({
      'argocd.argoproj.io/sync-wave': '-3',
    });
    await desk.run('synth', 'hub', '--ordering', 'argo-cd');
    expect(desk.output).toContain('argocd.argoproj.io/sync-wave');
  });
});

describe('given muster synth for Flux', () => {
  test('when sets are written, then each has its folder, and one Kustomization after the other', async () => {
    mkdirSync(join(desk.out, '.git'), { recursive: true });
    const fleet = join(desk.out, 'clusters', 'hub');
    const flux = ['--ordering', 'flux', '--out', fleet];
    await desk.run('synth', 'crds', ...flux);
    await desk.run('synth', 'hub', ...flux);
    await desk.run('synth', 'cluster', '--name', 'east', '--client-id', 'x', ...flux, '--flux-source', 'fleet');
    expect(desk.tree(fleet)).toEqual([
      'Kustomization',
      'crds/Kustomization',
      'crds/crds.yaml',
      'flux.yaml',
      'hub/Kustomization',
      'hub/hub.yaml',
      'registrations/Kustomization',
      'registrations/cluster-east.yaml',
    ]);
    expect(desk.resources('clusters/hub')).toEqual(['flux.yaml']);
    expect(desk.resources('clusters/hub/registrations')).toEqual(['cluster-east.yaml']);
    const spec = (path: string) => ({ path: `./clusters/hub/${path}`, sourceRef: { name: 'fleet' } });
    expect(objectsOf(desk.read('clusters/hub/flux.yaml'))).toMatchObject([
      { metadata: { name: 'muster-crds' }, spec: spec('crds') },
      { metadata: { name: 'muster-hub' }, spec: { ...spec('hub'), dependsOn: [{ name: 'muster-crds' }] } },
      { metadata: { name: 'muster-registrations' }, spec: spec('registrations') },
    ]);
    const before = desk.contents();
    await desk.run('synth', 'hub', ...flux, '--flux-source', 'fleet');
    expect(desk.contents()).toEqual(before);
  });

  test('when no set is named, then the agent has its folder and is not applied to the hub', async () => {
    await desk.run('synth', '--ordering', 'flux', '--flux-path', 'here', '--out', desk.out);
    expect(desk.tree()).toContain('agent/agent.yaml');
    expect(desk.read('flux.yaml')).not.toContain('muster-agent');
    expect(desk.read('flux.yaml')).toContain('path: ./here/hub');
  });

  test('when a folder was written in the other way, then that is refused', async () => {
    await desk.run('synth', 'hub', '--out', desk.out);
    await expect(desk.run('synth', 'crds', '--ordering', 'flux', '--out', desk.out)).rejects.toThrow(
      'without --ordering flux',
    );
    const flux = join(desk.dir, 'flux');
    await desk.run('synth', 'hub', '--ordering', 'flux', '--out', flux);
    await expect(desk.run('synth', 'hub', '--out', flux)).rejects.toThrow('with --ordering flux');
  });
});

describe('given muster synth of a chart', () => {
  test('when it is written again, then nothing changes, and templates that are no more are removed', async () => {
    await desk.run('synth', 'agent', '--format', 'helm', '--client-id', 'x', '--out', desk.out);
    expect(parse(desk.read('values.yaml'))).toMatchObject({ clientID: 'x' });
    const before = desk.contents();
    const header = desk.read('templates', 'deployments.yaml').split('\n')[0] ?? '';
    writeFileSync(join(desk.out, 'templates', 'old.yaml'), `${header}\nkind: Old\n`);
    writeFileSync(join(desk.out, 'templates', 'mine.yaml'), 'kind: Mine\n');
    desk.output = '';
    await desk.run('synth', 'agent', '--format', 'helm', '--client-id', 'x', '--out', desk.out);
    expect(desk.contents().filter(([path]) => path !== 'templates/mine.yaml')).toEqual(before);
    expect(desk.tree()).toContain('templates/mine.yaml');
    expect(desk.output).toContain('templates/old.yaml (removed)');
  });

  test.each<[string, string[], string]>([
    ['printed', ['synth', 'hub', '--format', 'helm'], 'helm needs --out'],
    ['with a namespace', ['synth', 'hub', '--format', 'helm', '--namespace', 'a', '--out', 'OUT'], 'of its release'],
    ['with an order', ['synth', 'hub', '--format', 'helm', '--ordering', 'flux', '--out', 'OUT'], 'order of its own'],
  ])('when it is %s, then that is refused', async (_, argv, message) => {
    await expect(desk.run(...argv.map((each) => (each === 'OUT' ? desk.out : each)))).rejects.toThrow(message);
  });

  test('when the folder has another chart, then that is refused', async () => {
    await desk.run('synth', 'crds', '--format', 'helm', '--out', desk.out);
    await expect(desk.run('synth', 'hub', '--format', 'helm', '--out', desk.out)).rejects.toThrow('is another chart');
  });
});
