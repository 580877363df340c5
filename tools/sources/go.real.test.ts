import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cachedEntry } from '../cache.ts';
import { exec } from '../exec.ts';
import { silentReporter } from '../progress.ts';
import { goEntry, goModules, type GoModule } from './go.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-go-'));
  vi.stubEnv('MUSTER_CACHE', join(folder, 'cache'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** A module that builds in a moment and says what etcd would say. */
const small: GoModule = { name: 'small', version: '9.9.9', packages: { etcd: 'example.invalid/small' } };

async function given(source: string, mod = 'module example.invalid/small\n\ngo 1.21\n'): Promise<void> {
  await mkdir(join(folder, 'small'), { recursive: true });
  await writeFile(join(folder, 'small', 'go.mod'), mod);
  await writeFile(join(folder, 'small', 'go.sum'), '');
  await writeFile(join(folder, 'small', 'main.go'), source);
}

const says = (version: string): string =>
  `package main\nimport "fmt"\nfunc main() { fmt.Println("etcd Version: ${version}") }\n`;

const build = async () => cachedEntry(await goEntry(small, folder), silentReporter);

describe('goEntry', () => {
  it('builds a program that runs, once', async () => {
    await given(says('9.9.9'));
    const first = await build();
    expect(first.origin).toBe('built');
    expect((await exec(join(first.folder, 'etcd'), [])).stdout).toBe('etcd Version: 9.9.9\n');
    expect((await build()).origin).toBe('cache');
  });

  it('is another entry when go.mod changes', async () => {
    await given(says('9.9.9'));
    const before = await goEntry(small, folder);
    await given(says('9.9.9'), 'module example.invalid/small\n\ngo 1.22\n');
    expect((await goEntry(small, folder)).key).not.toBe(before.key);
  });

  it('never publishes a program that says it is something else', async () => {
    await given(says('9.9.8'));
    await expect(build()).rejects.toMatchObject({ code: 'BUILD_FAILED', what: 'etcd 9.9.9' });
    expect(await readdir(join(folder, 'cache', 'tools'))).toEqual([]);
  });

  it('shows what the compiler says', async () => {
    await given('package main\nfunc main() { undefinedThing() }\n');
    await expect(build()).rejects.toMatchObject({ code: 'BUILD_FAILED', message: /undefinedThing/ });
  });

  it('names the programs that could not be had without Go', async () => {
    await given(says('9.9.9'));
    vi.stubEnv('PATH', join(folder, 'empty'));
    await expect(build()).rejects.toMatchObject({ code: 'MISSING_TOOLCHAIN', what: 'etcd 9.9.9', hint: /Install Go/ });
  });

  it('tells a Go toolchain that is too old from one that is missing', async () => {
    await given(says('9.9.9'), 'module example.invalid/small\n\ngo 1.999.0\n');
    vi.stubEnv('GOTOOLCHAIN', 'local');
    await expect(build()).rejects.toMatchObject({ code: 'MISSING_TOOLCHAIN', message: /too old/ });
  });

  it('says how much memory is missing before it spends minutes', async () => {
    await given(says('9.9.9'));
    const entry = await goEntry({ ...small, memory: Number.MAX_SAFE_INTEGER }, folder);
    await expect(cachedEntry(entry, silentReporter)).rejects.toMatchObject({
      code: 'NOT_ENOUGH_MEMORY',
      what: 'etcd 9.9.9',
      message: /needs \d+\.\d GB of free memory, \d+\.\d GB are free/,
    });
  });

  it('is another entry when our own main package changes', async () => {
    await given(says('9.9.9'));
    const embedding = { ...small, embeds: { 'a.json': { module: 'example.invalid/other', path: 'a.json' } } };
    const before = await goEntry(embedding, folder);
    await given(says('9.9.8'));
    expect((await goEntry(embedding, folder)).key).not.toBe(before.key);
  });

  it('names the programs that could not be had without a module proxy', async () => {
    // The port of a closed listener: refused at once.
    vi.stubEnv('GOPROXY', 'http://127.0.0.1:1');
    vi.stubEnv('GOMODCACHE', join(folder, 'modules'));
    vi.stubEnv('GOFLAGS', '-modcacherw');
    const entry = await goEntry(goModules['language-nodejs']);
    await expect(cachedEntry(entry, silentReporter)).rejects.toMatchObject({
      code: 'REGISTRY_UNREACHABLE',
      what: 'pulumi-language-nodejs 3.68.0',
    });
  });
});

describe('the modules under tools/go', () => {
  it.each(Object.values(goModules))('$name pins the version that the table promises', async (module) => {
    const mod = await readFile(join(import.meta.dirname, '..', 'go', module.name, 'go.mod'), 'utf8');
    expect(mod).toContain(`v${module.version}`);
  });
});
