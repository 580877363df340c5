/** Flux in a cluster: its kustomize-controller, and a GitRepository whose commits are served from here. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import type { Condition } from '../../api/conditions.ts';
import { findCondition } from '../../api/conditions.ts';
import { Namespaces } from '../../api/kubernetes/core.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { formatTime } from '../../api/time.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { Repository } from '../gitops/repository.ts';
import type { ControlPlane } from '../harness/index.ts';
import { ManagedProcess, currentRun, poll } from '../harness/index.ts';
import { given } from './given.ts';

const namespace = 'flux-system';
const name = 'flux-system';

interface Kustomization extends KubeObject {
  readonly spec: object;
  readonly status?: {
    readonly conditions?: Condition[];
    readonly lastAppliedRevision?: string;
    readonly lastHandledReconcileAt?: string;
  };
}
interface Source extends KubeObject {
  readonly spec: object;
}

const Kustomizations: ResourceType<Kustomization> = {
  group: 'kustomize.toolkit.fluxcd.io',
  version: 'v1',
  kind: 'Kustomization',
  plural: 'kustomizations',
  namespaced: true,
};
const GitRepositories: ResourceType<Source> = {
  group: 'source.toolkit.fluxcd.io',
  version: 'v1',
  kind: 'GitRepository',
  plural: 'gitrepositories',
  namespaced: true,
};

export interface Flux {
  /** What source-controller does with a commit that was pushed. Returns its revision. */
  push(): Promise<string>;
  /** What `flux bootstrap` makes: a Kustomization of all that is at this path. */
  bootstrap(root: string, path: string): Promise<void>;
  /** Reconciles Kustomizations although nothing changed; resolves when that is done. */
  again(names: readonly string[]): Promise<void>;
  /** Condition Ready of a Kustomization, and what it has applied. */
  state(kustomization: string): Promise<{ ready?: Condition; revision?: string }>;
  close(): Promise<void>;
}

export async function startFlux(plane: ControlPlane, admin: KubeClient, repository: Repository): Promise<Flux> {
  const files = given('MUSTER_INTEROP_FLUX_CRDS').split(delimiter);
  await repository.run(`kubectl --context hub apply --server-side ${files.map((file) => `-f '${file}'`).join(' ')}`);
  const fieldManager = 'flux';
  await admin.apply(
    Namespaces,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { fieldManager },
  );
  const dir = (await currentRun()).makeDir('flux');
  const server = createServer((request, response) => {
    response.end(readFileSync(join(dir, (request.url ?? '').slice(1))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const source = { interval: '1h', url: 'https://git.example.test/fleet.git' };
  await admin.apply(
    GitRepositories,
    { apiVersion: '', kind: '', metadata: { name, namespace }, spec: source },
    { fieldManager },
  );
  const kubeconfig = join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, plane.kubeconfig, { mode: 0o600 });
  const controller = await ManagedProcess.start({
    name: 'kustomize-controller',
    command: given('MUSTER_INTEROP_FLUX_CONTROLLER'),
    args: [
      '--metrics-addr=127.0.0.1:0',
      '--health-addr=127.0.0.1:0',
      '--enable-leader-election=false',
      '--requeue-dependency=2s',
      '--watch-all-namespaces',
    ],
    logFile: join(dir, 'kustomize-controller.log'),
    env: { KUBECONFIG: kubeconfig, RUNTIME_NAMESPACE: namespace },
  });

  return {
    async push() {
      const commit = (await repository.run('git rev-parse HEAD')).trim();
      const path = `${commit}.tar.gz`;
      await repository.run(`git archive --format tar.gz --output '${join(dir, path)}' HEAD`);
      const digest = `sha256:${createHash('sha256')
        .update(readFileSync(join(dir, path)))
        .digest('hex')}`;
      const revision = `main@sha1:${commit}`;
      const now = formatTime(Date.now());
      const ready = { type: 'Ready', status: 'True', reason: 'Succeeded', message: 'stored', lastTransitionTime: now };
      const artifact = { url: `${base}/${path}`, path, digest, revision, lastUpdateTime: now };
      const status = { observedGeneration: 1, conditions: [{ ...ready, observedGeneration: 1 }], artifact };
      await admin.patch(GitRepositories, { namespace, name }, { status }, { type: 'merge', subresource: 'status' });
      return revision;
    },
    async bootstrap(root, path) {
      const spec = { interval: '10m', path, prune: true, sourceRef: { kind: GitRepositories.kind, name } };
      const object = { apiVersion: '', kind: '', metadata: { name: root, namespace }, spec };
      await admin.apply(Kustomizations, object, { fieldManager });
    },
    async again(names) {
      const at = new Date().toISOString();
      const asked = { metadata: { annotations: { 'reconcile.fluxcd.io/requestedAt': at } } };
      for (const each of names) await admin.patch(Kustomizations, { namespace, name: each }, asked, { type: 'merge' });
      for (const each of names) {
        const handled = async (): Promise<true | undefined> => {
          const { status } = await admin.get(Kustomizations, { namespace, name: each });
          return status?.lastHandledReconcileAt === at ? true : undefined;
        };
        await poll(handled, { what: `${each} to be reconciled again` });
      }
    },
    async state(kustomization) {
      const found = await admin.find(Kustomizations, { namespace, name: kustomization });
      const ready = findCondition(found?.status?.conditions, 'Ready');
      const revision = found?.status?.lastAppliedRevision;
      return { ...(ready ? { ready } : {}), ...(revision ? { revision } : {}) };
    },
    async close() {
      await controller.stop();
      server.close();
    },
  };
}
