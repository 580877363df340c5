/** The examples that are cdk8s apps: synthesized by cdk8s twice, committed, applied to a hub that then registers. */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCondition } from '../../api/conditions.ts';
import { ClusterGroups, Clusters } from '../../api/fleet/kinds.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { poll } from '../harness/index.ts';
import { fetchSecrets, installExternalSecrets } from './external-secrets.ts';
import { onThisMachine } from './machine.ts';
import { createRepository, examples, readmeOf } from './repository.ts';
import type { Repository } from './repository.ts';
import { shellBlocks } from './shell.ts';
import { startStage } from './stage.ts';
import type { Stage } from './stage.ts';

const workspace = 'fleet-default';
const agentNamespace = 'cattle-fleet-system';
let stage: Stage;

beforeAll(async () => {
  stage = await startStage('apps', { node: false });
}, 240_000);
afterAll(() => stage?.close());

/** The example in a repository of its own. Its packages are those of this repository, so nothing is installed. */
async function appOf(example: string): Promise<{ repository: Repository; blocks: string[] }> {
  const repository = await createRepository(stage.env, { name: example });
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), repository.path('node_modules'));
  writeFileSync(repository.path('.git/info/exclude'), 'node_modules\n');
  const [install = '', ...blocks] = shellBlocks(readmeOf(example));
  expect(install).toBe('npm install\n');
  return { repository, blocks };
}

describe('gitops-cdk8s', () => {
  let repository: Repository;
  let blocks: string[];
  beforeAll(async () => {
    ({ repository, blocks } = await appOf('gitops-cdk8s'));
    writeFileSync(repository.path('settings.ts'), settingsOf(stage));
  });

  it('gives the same bytes twice, and none of a secret', async () => {
    const [synth = ''] = blocks;
    await repository.run(synth);
    await repository.run('npm run synth');
    expect(await repository.status()).toBe('');
    expect(await repository.run('git ls-files dist')).toBe(
      ['hub/0000-crds', 'hub/0001-hub', 'hub/0002-fleet', 'stores/store-17']
        .map((name) => `dist/${name}.k8s.yaml\n`)
        .join(''),
    );
  }, 240_000);

  it('becomes a hub with registered clusters, whose credentials come from elsewhere', async () => {
    const [, apply = '', see = ''] = blocks;
    await installExternalSecrets(stage.edgeAdmin);
    await repository.run(apply);
    await stage.hubAdmin.apply(
      Secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'east-kubeconfig', namespace: workspace },
        data: { value: Buffer.from(stage.edge.plane.kubeconfig).toString('base64') },
      },
      { fieldManager: 'external-secrets' },
    );
    const values = await poll(
      async () => (await stage.hubAdmin.find(Secrets, { namespace: workspace, name: 'stores' }))?.data?.['values'],
      { what: 'the values of the token' },
    );
    const entries = { 'fleet/stores/values': Buffer.from(values, 'base64').toString() };
    await fetchSecrets(stage.edgeAdmin, agentNamespace, entries);

    const seen = await repository.run(see);
    expect(seen).toMatch(/\/east /);
    expect(seen).toMatch(/\/store-17 /);
    const group = await stage.hubAdmin.get(ClusterGroups, { namespace: workspace, name: 'edge' });
    expect(group.status?.clusterCount).toBe(1);
  }, 240_000);
});

describe('gitops-imported', () => {
  let repository: Repository;
  let blocks: string[];
  beforeAll(async () => {
    ({ repository, blocks } = await appOf('gitops-imported'));
  });

  it('generates, compiles and synthesizes, and commits nothing that is generated', async () => {
    const [generate = '', synth = ''] = blocks;
    await repository.run(generate);
    await repository.run(synth);
    expect(await repository.status()).toBe('');
    const files = (await repository.run('git ls-files')).trim().split('\n');
    expect(files).toEqual(expect.arrayContaining(['main.ts', 'dist/fleet.k8s.yaml']));
    expect(files.filter((file) => /^(imports|build|crds)/.test(file))).toEqual([]);
  }, 240_000);

  it('is taken and answered by the hub', async () => {
    const [, , apply = ''] = blocks;
    const seen = await repository.run(apply);
    expect(seen).toMatch(/^west /m);
    const imported = await poll(
      async () => {
        const { status } = await stage.hubAdmin.get(Clusters, { namespace: workspace, name: 'west' });
        return findCondition(status?.conditions, 'Imported');
      },
      { what: 'the answer to west' },
    );
    expect(imported).toMatchObject({ status: 'False', reason: 'KubeconfigSecretMissing' });
    const { spec } = await stage.hubAdmin.get(Clusters, { namespace: workspace, name: 'kiosk-1' });
    expect(spec?.clientID).toBe('kiosk-1');
  }, 240_000);
});

/** The example's settings, for this machine: all that a team edits is this file. */
function settingsOf({ hub, edge }: Stage): string {
  const example = readFileSync(join(examples, 'gitops-cdk8s', 'settings.ts'), 'utf8');
  const names = [...example.matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
  const pulled = { image: 'localhost/muster:dev', imagePullPolicy: 'Never' };
  const values: Record<string, unknown> = {
    hub: {
      ...pulled,
      ...onThisMachine('hub', hub.plane.server),
      config: { apiServerURL: hub.plane.server, apiServerCA: hub.plane.ca, agentImagePullPolicy: 'Never' },
    },
    // Both agents live in one cluster here.
    clusters: [
      { name: 'east', agent: { ...onThisMachine('agent', edge.plane.server, 1000), namespace: 'east-system' } },
    ],
    stores: ['store-17'],
    agent: { ...pulled, ...onThisMachine('agent', edge.plane.server) },
    token: {
      secretStoreRef: { name: 'vault', kind: 'ClusterSecretStore' },
      remoteRef: { key: 'fleet/stores', property: 'values' },
    },
  };
  expect(Object.keys(values).sort()).toEqual(names.sort());
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
    .join('');
}
