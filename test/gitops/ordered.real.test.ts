/**
 * examples/gitops-argo-cd and examples/gitops-flux, applied in the order that these tools keep: nothing comes too early,
 * so that the first sync succeeds. At the end of that of Argo CD a cluster is registered, with a credential from External
 * Secrets.
 */
import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isTrue } from '../../api/conditions.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import type { KubeObject } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane, poll } from '../harness/index.ts';
import { fetchSecrets, installExternalSecrets } from './external-secrets.ts';
import { addSettings, onThisMachine } from './machine.ts';
import { reconcileAsFlux, syncAsArgoCd } from './players.ts';
import type { FluxKustomization } from './players.ts';
import { createRepository, readmeOf } from './repository.ts';
import type { Repository } from './repository.ts';
import { shellBlocks } from './shell.ts';
import { openShell, startCluster } from './stage.ts';

const workspace = 'fleet-default';
const storeNamespace = 'store-17-system';

interface Place {
  readonly plane: ControlPlane;
  readonly admin: KubeClient;
  readonly repository: Repository;
}
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** One cluster is enough: the store's agent lives in another namespace of the hub's. */
async function open(example: string, plane: ControlPlane): Promise<Place> {
  const admin = plane.client();
  closing.push(() => admin.close());
  const { env } = await openShell({ hub: plane });
  const repository = await createRepository({ ...env, HUB_URL: plane.server }, { name: example });
  const pulled = { imagePullPolicy: 'Never' };
  addSettings(repository.path('settings/hub.yaml'), { ...pulled, ...onThisMachine('hub', plane.server) });
  addSettings(repository.path('settings/agent.yaml'), {
    ...pulled,
    ...onThisMachine('agent', plane.server, 1000),
    namespace: storeNamespace,
  });
  writeFileSync(repository.path('settings/hub-ca.pem'), plane.ca);
  await installExternalSecrets(admin);
  const [write = ''] = shellBlocks(readmeOf(example));
  await repository.run(write);
  return { plane, admin, repository };
}

/** What kustomize makes of a folder: both tools read them this way. */
async function objectsIn(repository: Repository, folder: string): Promise<KubeObject[]> {
  const text = await repository.run(`kubectl kustomize ${folder}`);
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

/** External Secrets and its PushSecret: the values of the token go to the store and come to the agent. */
async function storeIsReady({ admin }: Place): Promise<void> {
  const values = await poll(
    async () => (await admin.find(Secrets, { namespace: workspace, name: 'stores' }))?.data?.['values'],
    { what: 'the values of the token' },
  );
  await fetchSecrets(admin, storeNamespace, { 'fleet/stores/values': Buffer.from(values, 'base64').toString() });
  const ready = async (): Promise<true | undefined> => {
    const { status } = await admin.get(Clusters, { namespace: workspace, name: 'store-17' });
    return isTrue(status?.conditions, 'Ready') ? true : undefined;
  };
  await poll(ready, { what: 'store-17 to be Ready' });
}

describe('in the order of Argo CD', () => {
  it('the waves of gitops-argo-cd have no failure, and register', async () => {
    const cluster = await startCluster({ name: 'argo-cd', node: false });
    closing.push(() => cluster.close());
    const here = await open('gitops-argo-cd', cluster.plane);
    const applications = await here.repository.run('cat argo-cd/*.yaml');
    const paths = [...applications.matchAll(/^ {4}path: (.*)$/gm)].map(([, path = '']) => path);
    expect(paths).toEqual(['hub', 'store-17']);

    const [hub = '', store = ''] = paths;
    const waves = await syncAsArgoCd(here.admin, await objectsIn(here.repository, hub));
    expect(waves.length).toBeGreaterThan(2);
    // An agent is healthy when it has registered, for which it needs what External Secrets brings meanwhile.
    await Promise.all([syncAsArgoCd(here.admin, await objectsIn(here.repository, store)), storeIsReady(here)]);
  }, 240_000);
});

describe('in the order of Flux', () => {
  it('the Kustomizations of gitops-flux have no failure', async () => {
    const plane = await ControlPlane.start({ name: 'flux', controllerManager: false });
    closing.push(() => plane.close());
    const { admin, repository } = await open('gitops-flux', plane);
    const reconcile = async (root: string): Promise<string[]> => {
      const kustomizations = (await objectsIn(repository, root)) as FluxKustomization[];
      return await reconcileAsFlux(admin, kustomizations.toReversed(), (path) => objectsIn(repository, path));
    };

    expect(await reconcile('clusters/hub')).toEqual(['muster-crds', 'muster-hub', 'muster-registrations']);
    expect(await reconcile('clusters/store-17')).toEqual(['muster-agent']);
    const { spec } = await admin.get(Clusters, { namespace: workspace, name: 'east' });
    expect(spec?.kubeConfigSecret).toBe('east-kubeconfig');
  }, 240_000);
});
