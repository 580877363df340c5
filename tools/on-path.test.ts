import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findOnPath, isStatic } from './on-path.ts';

let folder: string;
let bin: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-path-'));
  bin = join(folder, 'bin');
  await mkdir(bin);
  vi.stubEnv('MUSTER_CACHE', join(folder, 'cache'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** A program that prints `output` and leaves a line in `calls` each time. */
async function given(name: string, output: string, where = bin): Promise<string> {
  const path = join(where, name);
  await mkdir(where, { recursive: true });
  await writeFile(path, `#!/bin/sh\necho called >> ${folder}/calls\ncat <<'END'\n${output}\nEND\n`);
  await chmod(path, 0o755);
  return path;
}

const calls = async (): Promise<number> =>
  (await readFile(join(folder, 'calls'), 'utf8').catch(() => '')).split('\n').filter(Boolean).length;

describe('findOnPath', () => {
  it.each([
    ['kube-apiserver', 'Kubernetes v1.36.0', '1.36.0'],
    ['kube-apiserver', 'Kubernetes v1.35.9', undefined],
    ['kube-apiserver', 'Kubernetes v1.37.0', undefined],
    ['etcd', 'etcd Version: 3.6.1\nGit SHA: x', '3.6.1'],
    ['etcd', 'etcd Version: 3.5.9', undefined],
    ['pulumi', 'v3.290.0', '3.290.0'],
    ['pulumi', 'v3.100.0', undefined],
    ['kubectl', 'Client Version: v1.35.2\nKustomize Version: v5.5.0', '1.35.2'],
    ['kubectl', 'Client Version: v1.32.4-dispatcher', undefined],
    ['helm', 'v4.1.4+g123', '4.1.4'],
    ['helm', 'v3.16.1', undefined],
    ['kubelet', 'no version at all', undefined],
  ] as const)('%s that says %j is taken as %s', async (name, output, version) => {
    await given(name, output);
    const found = await findOnPath([name], { PATH: bin });
    expect(found.get(name)?.version).toBe(version);
  });

  it('goes on to the next folder of PATH when the first copy does not fit', async () => {
    await given('etcd', 'etcd Version: 3.4.0');
    const second = await given('etcd', 'etcd Version: 3.6.2', join(folder, 'bin2'));
    const found = await findOnPath(['etcd'], { PATH: `${bin}:${join(folder, 'bin2')}` });
    expect(found.get('etcd')).toEqual({ path: second, version: '3.6.2' });
  });

  it('finds nothing without PATH', async () => {
    expect((await findOnPath(['etcd', 'containerd', 'cni'], { PATH: '' })).size).toBe(0);
  });

  it('asks a program for its version once, and again when it was replaced', async () => {
    await given('etcd', 'etcd Version: 3.6.2');
    await findOnPath(['etcd'], { PATH: bin });
    await findOnPath(['etcd'], { PATH: bin });
    expect(await calls()).toBe(1);
    await given('etcd', 'etcd Version: 3.6.30');
    expect((await findOnPath(['etcd'], { PATH: bin })).get('etcd')?.version).toBe('3.6.30');
    expect(await calls()).toBe(2);
  });

  it('takes the language host only from the folder of an engine that fits', async () => {
    const host = await given('pulumi-language-nodejs', '');
    expect((await findOnPath(['pulumi-language-nodejs'], { PATH: bin })).size).toBe(0);
    await given('pulumi', 'v3.274.1');
    const found = await findOnPath(['pulumi-language-nodejs'], { PATH: bin });
    expect(found.get('pulumi-language-nodejs')?.path).toBe(host);
  });

  it('takes CNI plugins only as a whole set', async () => {
    for (const name of ['bridge', 'loopback', 'host-local']) await given(name, '');
    const env = { PATH: bin, CNI_PATH: bin };
    expect((await findOnPath(['cni'], env)).get('cni')?.path).not.toBe(bin);
    await given('portmap', '');
    expect((await findOnPath(['cni'], env)).get('cni')?.path).toBe(bin);
  });

  it('never takes a copy out of our own cache for one of the user', async () => {
    const own = join(folder, 'cache', 'tools', 'etcd-1');
    await given('etcd', 'etcd Version: 3.6.2', own);
    expect((await findOnPath(['etcd'], { PATH: own })).size).toBe(0);
  });
});

describe('isStatic', () => {
  it('tells a script and a dynamic program from what runs alone', async () => {
    expect(await isStatic(await given('script', 'x'.repeat(200)))).toBe(false);
    expect(await isStatic(process.execPath)).toBe(false);
  });
});
