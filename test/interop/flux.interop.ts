/** examples/gitops-flux under the real Flux: from commits to a registered cluster, nothing done twice, and gone by a commit. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Clusters } from '../../api/fleet/kinds.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { openExample, storeIsReady, workspace } from '../gitops/one-cluster.ts';
import type { Repository } from '../gitops/repository.ts';
import { startCluster } from '../gitops/stage.ts';
import type { LocalCluster } from '../harness/index.ts';
import { poll } from '../harness/index.ts';
import type { Flux } from './flux.ts';
import { startFlux } from './flux.ts';

let cluster: LocalCluster;
let admin: KubeClient;
let repository: Repository;
let flux: Flux;

beforeAll(async () => {
  cluster = await startCluster({ name: 'flux', node: false });
  admin = cluster.plane.client();
  repository = await openExample('gitops-flux', cluster.plane, admin);
  flux = await startFlux(cluster.plane, admin, repository);
});
afterAll(async () => {
  await flux?.close();
  await admin?.close();
  await cluster?.close();
});

/** Resolves when this revision is applied; fails as soon as Flux says that anything went wrong. */
async function applied(kustomization: string, revision: string): Promise<void> {
  const look = async (): Promise<true | undefined> => {
    const { ready, revision: now } = await flux.state(kustomization);
    const waits = ready === undefined || ready.status === 'Unknown' || ready.reason === 'DependencyNotReady';
    if (!waits && ready.status === 'False') throw new Error(`${kustomization}: ${ready.reason}: ${ready.message}`);
    return ready?.status === 'True' && now === revision ? true : undefined;
  };
  await poll(look, { what: `${kustomization} at ${revision}` });
}

/** Generations of all that muster's manifests make: they grow with each change of a specification. */
async function generations(): Promise<string> {
  const kinds =
    'crds,namespaces,clusters.fleet.cattle.io,clusterregistrationtokens.fleet.cattle.io,deployments,roles,clusterroles';
  const columns = 'K:.kind,N:.metadata.name,G:.metadata.generation,U:.metadata.uid';
  return await repository.run(`kubectl --context hub get ${kinds} --all-namespaces --output custom-columns=${columns}`);
}

describe('gitops-flux under Flux', () => {
  it('given one push, then hub and store come up in order, without a failure, and the store registers', async () => {
    const revision = await flux.push();
    await flux.bootstrap('hub', './clusters/hub');
    for (const each of ['muster-crds', 'muster-hub', 'muster-registrations']) await applied(each, revision);
    await flux.bootstrap('store-17', './clusters/store-17');
    await Promise.all([applied('muster-agent', revision), storeIsReady(admin)]);
  });

  it('given nothing new, when all is reconciled again, then nothing changes', async () => {
    const before = await generations();
    expect(before).toContain('store-17');
    await flux.again(['muster-crds', 'muster-hub', 'muster-registrations', 'muster-agent']);
    expect(await generations()).toBe(before);
  });

  it('given a commit without a cluster, then that one is removed, and the others stay', async () => {
    const folder = 'clusters/hub/registrations';
    await repository.run(
      `git rm --quiet ${folder}/cluster-east.yaml && sed -i /cluster-east/d ${folder}/Kustomization`,
    );
    await repository.run("git commit --quiet --all --message 'Without east'");
    const revision = await flux.push();
    for (const each of ['muster-crds', 'muster-hub', 'muster-registrations']) await applied(each, revision);
    const gone = async (): Promise<true | undefined> =>
      (await admin.find(Clusters, { namespace: workspace, name: 'east' })) === undefined ? true : undefined;
    await poll(gone, { what: 'east to be gone' });
    expect(await admin.find(Clusters, { namespace: workspace, name: 'store-17' })).toBeDefined();
  });
});
