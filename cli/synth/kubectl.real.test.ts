/** What `muster synth` writes, applied by the real kubectl in each of the ways that it knows. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { Clusters, GitRepos } from '../../api/fleet/kinds.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { binary } from '../../test/harness/binaries.ts';
import { ControlPlane, currentRun } from '../../test/harness/index.ts';
import { createProgram } from '../program.ts';

const run = promisify(execFile);

let plane: ControlPlane;
let admin: KubeClient;
let dir: string;

beforeAll(async () => {
  dir = (await currentRun()).makeDir('synth-kubectl');
  plane = await ControlPlane.start({ name: 'synth-kubectl' });
  admin = plane.client();
});
afterAll(async () => {
  await admin?.close();
  await plane?.close();
});

async function muster(...args: string[]): Promise<void> {
  await createProgram(() => undefined).parseAsync(['synth', ...args], { from: 'user' });
}

/** All sets of a hub. */
async function synth(name: string, ...flags: string[]): Promise<string> {
  const out = join(dir, name);
  const sets = [
    ['hub', '--workspace', 'fleet-default'],
    ['token', '--name', 'stores', '--ttl', '24h'],
    ['cluster', '--name', 'store-17', '--client-id', 'store-17', '--label', 'tier=edge'],
    ['group', '--name', 'edge', '--selector', 'tier=edge'],
    ['gitrepo', '--name', 'apps', '--repo', 'https://git.test/apps', '--target-group', 'edge'],
    ['rule', '--name', 'capi', '--source', 'cluster-api'],
    ['crds'],
  ];
  for (const set of sets) await muster(...set, ...flags, '--out', out);
  return out;
}

interface Ended {
  readonly ok: boolean;
  readonly lines: readonly string[];
  readonly stderr: string;
}

async function kubectl(...args: string[]): Promise<Ended> {
  const options = { env: { ...process.env, HOME: dir, KUBECONFIG: plane.kubeconfigPath }, maxBuffer: 64 * 1024 * 1024 };
  try {
    const { stdout, stderr } = await run(await binary('kubectl'), args, options);
    return { ok: true, lines: stdout.trim().split('\n'), stderr };
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return { ok: false, lines: stdout.trim().split('\n'), stderr };
  }
}
describe('given a folder of plain manifests', () => {
  let out: string;
  beforeAll(async () => {
    out = await synth('plain');
  });

  test('when applied file by file, in whatever order, then the second time all is there', async () => {
    // Kinds that are only just being defined are not known yet; whatever is known is applied all the same.
    const first = await kubectl('apply', '--filename', out);
    expect(first.stderr).toMatch(/ensure CRDs are installed first/);
    await kubectl('wait', '--for', 'condition=Established', '--filename', join(out, 'crds.yaml'), '--timeout', '60s');
    const second = await kubectl('apply', '--filename', out);
    expect(second.ok, second.stderr).toBe(true);
    expect(await admin.get(Clusters, { namespace: 'fleet-default', name: 'store-17' })).toMatchObject({
      spec: { clientID: 'store-17' },
    });
    expect(await admin.get(GitRepos, { namespace: 'fleet-default', name: 'apps' })).toMatchObject({
      spec: { targets: [{ clusterGroup: 'edge' }] },
    });
  }, 120_000);

  test('when applied once more as a kustomization, then nothing changes', async () => {
    const applied = await kubectl('apply', '--kustomize', out);
    expect(applied.ok, applied.stderr).toBe(true);
    expect(applied.lines.filter((line) => !line.endsWith(' unchanged'))).toEqual([]);
  }, 120_000);

  test('when applied by the server, then it takes all of it, and nothing changes either', async () => {
    const before = await stored();
    const applied = await kubectl('apply', '--server-side', '--force-conflicts', '--kustomize', out);
    expect(applied.ok, applied.stderr).toBe(true);
    expect(await stored()).toEqual(before);
  }, 120_000);

  /** Every object, without what is written by others and about writing. */
  async function stored(): Promise<readonly unknown[]> {
    const read = await kubectl('get', '--filename', out, '--output', 'json');
    expect(read.ok, read.stderr).toBe(true);
    const { items } = JSON.parse(read.lines.join('\n')) as { items: Record<string, unknown>[] };
    return items.map(({ metadata, status: _status, ...rest }) => {
      const { name, labels } = metadata as Record<string, unknown>;
      return { ...rest, name, labels };
    });
  }

  test('when an agent is applied, then it is taken', async () => {
    const agent = join(dir, 'agent');
    await muster('agent', '--namespace', 'edge-system', '--out', agent);
    const applied = await kubectl('apply', '--filename', agent);
    expect(applied.ok, applied.stderr).toBe(true);
  }, 60_000);
});

test('given manifests ordered for Flux, when kustomize builds the folders, then they are the plain ones', async () => {
  const ordered = await synth('flux', '--ordering', 'flux');
  const folders = ['crds', 'hub', 'registrations'].map((folder) => join(ordered, folder));
  const [plain, ...parts] = await Promise.all([await synth('same'), ...folders].map(rendered));
  expect(parts.flat().sort()).toEqual(plain?.sort());
}, 60_000);

async function rendered(folder: string): Promise<string[]> {
  const { ok, lines, stderr } = await kubectl('kustomize', folder);
  expect(ok, stderr).toBe(true);
  return parseAllDocuments(lines.join('\n')).map((document) => JSON.stringify(document.toJS()));
}
