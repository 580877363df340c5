import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { exec } from './exec.ts';
import { ensureTools } from './ensure-tools.ts';
import type { ToolName } from './programs.ts';
import { silentReporter } from './progress.ts';
import { pulumiEnvironment } from './pulumi-environment.ts';
import { repositoryRoot } from './repository.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-ensure-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const ensure = <N extends ToolName>(...names: N[]) => ensureTools(names, silentReporter);

describe('ensureTools', () => {
  it('takes a program from PATH when its version fits', async () => {
    vi.stubEnv('MUSTER_CACHE', join(folder, 'cache'));
    const path = join(folder, 'etcd');
    await writeFile(path, '#!/bin/sh\necho etcd Version: 3.6.7\n');
    await chmod(path, 0o755);
    vi.stubEnv('PATH', folder);
    expect(await ensure('etcd')).toEqual({ etcd: { path, version: '3.6.7', origin: 'path' } });
  });

  it('makes what is not there, and the next call finds it made', async () => {
    vi.stubEnv('MUSTER_CACHE', join(folder, 'cache'));
    await mkdir(join(folder, 'bin'));
    vi.stubEnv('PATH', join(folder, 'bin'));
    const first = await ensure('helm', 'kubectl');
    const second = await ensure('helm', 'kubectl');
    expect([first.helm.origin, second.helm.origin, second.kubectl.origin]).toEqual(['built', 'cache', 'cache']);
    // What the unpacked programs say of themselves.
    expect([second.helm.version, second.kubectl.version]).toEqual([
      expect.stringMatching(/^4\.1\.\d+$/),
      expect.stringMatching(/^1\.35\.\d+$/),
    ]);
  });

  it('names what could not be had when Go is missing', async () => {
    vi.stubEnv('MUSTER_CACHE', join(folder, 'cache'));
    vi.stubEnv('PATH', '');
    await expect(ensure('kube-apiserver')).rejects.toMatchObject({
      code: 'MISSING_TOOLCHAIN',
      what: /kube-apiserver 1\.36\.3/,
    });
  });

  it('refuses a name that it does not know', async () => {
    await expect(ensure('kube-nothing' as ToolName)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('pulumiEnvironment', () => {
  it('lets the real engine work on a file backend with nothing of the user', async () => {
    const env = await pulumiEnvironment({
      backend: folder,
      home: join(folder, 'home'),
      passphrase: 'for this test only',
      reporter: silentReporter,
    });
    const { code, stdout } = await exec('pulumi', ['whoami', '--verbose'], { env });
    expect([code, stdout]).toEqual([0, expect.stringContaining(`file://${folder}`)]);
    const script = await exec('sh', ['-c', 'command -v pulumi-resource-pulumi-nodejs'], { env });
    const original = join(repositoryRoot, 'node_modules', '@pulumi', 'pulumi', 'pulumi-resource-pulumi-nodejs');
    expect(await readFile(script.stdout.trim(), 'utf8')).toBe(await readFile(original, 'utf8'));
  });
});
