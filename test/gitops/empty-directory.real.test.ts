/**
 * From an empty Git directory to registered clusters, with the commands of examples/gitops-kubectl and nothing else: git,
 * `muster synth` and kubectl. Hub and agents run as the pods that the manifests ask for.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Cluster } from '../../api/fleet/kinds.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import { isTrue } from '../../api/conditions.ts';
import type { KubeObject } from '../../api/resource.ts';
import { collectSecrets, findSecrets, secretsIn } from '../e2e/secret-scan.ts';
import { clusterAPIDefinition } from '../../runtime/hub/cluster-api/testdata/definitions.ts';
import { createNamespace, installDefinition, PlayedClusterAPI } from '../support/played-cluster-api.ts';
import { clusterThat } from '../support/registering.ts';
import { addSettings, onThisMachine } from './machine.ts';
import { createRepository, readmeOf } from './repository.ts';
import type { Repository } from './repository.ts';
import { shellBlocks } from './shell.ts';
import { startStage } from './stage.ts';
import type { Stage } from './stage.ts';

const readme = readmeOf('gitops-kubectl');
const [write = '', apply = '', handOver = '', see = '', openNamespace = ''] = shellBlocks(readme);
const written = {
  hub: [
    'cluster-east.yaml',
    'cluster-store-17.yaml',
    'crds.yaml',
    'hub.yaml',
    'rule-cluster-api.yaml',
    'token-stores.yaml',
  ],
  'store-17': ['agent.yaml'],
} as const;
const folders = ['hub', 'store-17'] as const;
type Folder = (typeof folders)[number];

let stage: Stage;
let repository: Repository;
const secrets = new Set<string>();
const stop = new AbortController();

beforeAll(async () => {
  stage = await startStage('empty-directory');
  for (const admin of [stage.hubAdmin, stage.edgeAdmin]) await collectSecrets(admin, secrets, stop.signal);
  for (const { plane } of [stage.hub, stage.edge]) secretsIn(plane.kubeconfig).forEach((found) => secrets.add(found));
  repository = await createRepository(stage.env, { name: 'gitops-kubectl', files: ['settings'] });
  const { hub, edge } = stage;
  const pulled = { imagePullPolicy: 'Never' };
  addSettings(repository.path('settings/hub.yaml'), {
    ...pulled,
    ...onThisMachine('hub', hub.plane.server),
    config: { agentImagePullPolicy: 'Never' },
  });
  addSettings(repository.path('settings/agent.yaml'), { ...pulled, ...onThisMachine('agent', edge.plane.server) });
  // Both agents live in one cluster here, so one of them moves to another namespace.
  addSettings(repository.path('settings/east.yaml'), {
    agent: { ...onThisMachine('agent', edge.plane.server, 1000), namespace: 'east-system' },
  });
  addSettings(repository.path('settings/rule.yaml'), {
    agent: { ...onThisMachine('agent', edge.plane.server, 2000), namespace: 'west-system' },
  });
}, 180_000);
afterAll(async () => {
  stop.abort();
  await stage?.close();
});

const isReady = ({ status }: Cluster): boolean => isTrue(status?.conditions, 'Ready');

const objectsOf = (folder: Folder): KubeObject[] =>
  written[folder].flatMap((file) =>
    parseAllDocuments(readFileSync(repository.path(`${folder}/${file}`), 'utf8')).map(
      (document) => document.toJS() as KubeObject,
    ),
  );

/** What is stored for each object of a folder; a generation stands for the spec of an object whose status moves. */
async function stored(folder: Folder): Promise<string[]> {
  const text = await repository.run(`kubectl --context ${folder} get --output json --filename ${folder}`);
  const { items } = JSON.parse(text) as { items: KubeObject[] };
  return items.map(({ kind, metadata: { namespace = '', name = '', uid = '', generation, resourceVersion = '' } }) =>
    [kind, namespace, name, uid, generation ?? resourceVersion].join(' '),
  );
}

describe('an empty Git directory', () => {
  it('holds the manifests after the first step', async () => {
    await repository.run(write);
    for (const folder of folders) {
      expect(readdirSync(repository.path(folder)).sort()).toEqual(['Kustomization', ...written[folder]]);
    }
    const [shown] = /(?<=^```yaml\n)[^]*?(?=^```$)/m.exec(readme) ?? [];
    expect(readFileSync(repository.path('hub/cluster-store-17.yaml'), 'utf8')).toBe(shown);
  }, 120_000);

  it('becomes a hub with two registered clusters', async () => {
    await repository.run(apply);
    await repository.run(handOver);
    const seen = await repository.run(see);

    expect(seen).toMatch(/^east /m);
    expect(seen).toMatch(/^store-17 /m);
    const { items } = await stage.hubAdmin.list(Clusters, { namespace: 'fleet-default' });
    expect(items.map((cluster) => [cluster.metadata.name, isReady(cluster)])).toEqual([
      ['east', true],
      ['store-17', true],
    ]);
    for (const { status } of items) expect(Date.parse(status?.agent?.lastSeen ?? '')).toBeGreaterThan(0);
  }, 180_000);

  it('is applied again, plain and server-side, and changes nothing', async () => {
    for (const folder of folders) {
      const before = await stored(folder);
      expect(before).toHaveLength(objectsOf(folder).length);

      const plain = await repository.run(`kubectl --context ${folder} apply --filename ${folder}`);
      expect(plain.split('\n').filter((line) => line !== '' && !line.endsWith(' unchanged'))).toEqual([]);
      expect(await stored(folder)).toEqual(before);

      // Without --force-conflicts: nobody else owns a field that the manifests have.
      await repository.run(`kubectl --context ${folder} apply --server-side --filename ${folder}`);
      expect(await repository.run(`kubectl --context ${folder} diff --server-side --filename ${folder}`)).toBe('');
    }
  }, 240_000);

  it('registers the clusters of Cluster API that come later', async () => {
    const { hubAdmin: admin } = stage;
    await installDefinition(admin, clusterAPIDefinition('v1beta2', 'v1beta1'));
    await createNamespace(admin, 'team-a', {});
    const clusterAPI = new PlayedClusterAPI(admin, 'team-a');
    await clusterAPI.provision('west', stage.edge.plane.kubeconfig, { labels: { env: 'test', team: 'a' } });
    await repository.run(openNamespace);

    const west = await clusterThat({ admin }, 'west', isReady, 'Ready', 90_000);
    expect(west.metadata.labels).toMatchObject({ env: 'test' });
    expect(west.metadata.labels).not.toHaveProperty('team');
  }, 120_000);

  it('is as it was committed when the manifests are written again', async () => {
    await repository.run(write);
    expect(await repository.status()).toBe('');
  }, 120_000);

  it('holds no secret, in no commit', async () => {
    // Two administrators, the token of the stores and of east, a credential of each agent.
    expect(secrets.size).toBeGreaterThanOrEqual(6);
    const text = await repository.run('git log --all --patch');
    expect(text).toContain('kind: ClusterRegistrationToken');
    expect(findSecrets(secrets, 'the repository', text)).toEqual([]);
  });
});
