import { spawn } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cacheDir, cachedEntry, type EntrySpec } from './cache.ts';
import { silentReporter } from './progress.ts';
import { ToolError } from './tool-error.ts';

let cache: string;

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'muster-cache-'));
  vi.stubEnv('MUSTER_CACHE', cache);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(cache, { recursive: true, force: true });
});

function entry(overrides: Partial<EntrySpec> = {}): EntrySpec & { builds: () => number } {
  let builds = 0;
  return {
    kind: 'tools',
    name: 'thing',
    version: '1.0.0',
    key: 'abcdef0123456789',
    files: ['one', 'two'],
    async build(into) {
      builds += 1;
      await writeFile(join(into, 'one'), 'first program');
      await writeFile(join(into, 'two'), 'second program');
    },
    builds: () => builds,
    ...overrides,
  };
}

const get = (spec: EntrySpec) => cachedEntry(spec, silentReporter);

describe('cacheDir', () => {
  it.each([
    [{ MUSTER_CACHE: '/a', XDG_CACHE_HOME: '/b' }, '/a'],
    [{ XDG_CACHE_HOME: '/b' }, '/b/muster'],
  ])('of %o is %s', (env, folder) => {
    expect(cacheDir(env)).toBe(folder);
  });

  it('is in the home folder when nothing is set', () => {
    expect(cacheDir({})).toMatch(/\/\.cache\/muster$/);
  });
});

describe('cachedEntry', () => {
  it('builds once, and then takes what is there', async () => {
    const spec = entry();
    const first = await get(spec);
    const second = await get(spec);
    expect([first.origin, second.origin, spec.builds()]).toEqual(['built', 'cache', 1]);
    expect(second.folder).toBe(first.folder);
  });

  it('keeps another key in another folder', async () => {
    const one = await get(entry());
    const other = await get(entry({ key: 'ffffffffffffffff' }));
    expect(other.origin).toBe('built');
    expect(other.folder).not.toBe(one.folder);
  });

  it.each<[string, (folder: string) => Promise<unknown>]>([
    ['a file is missing', (folder) => rm(join(folder, 'one'))],
    ['a file was cut short', (folder) => truncate(join(folder, 'one'), 5)],
    ['a file has grown', (folder) => appendFile(join(folder, 'one'), 'x')],
    ['a file has other content of the same length', (folder) => writeFile(join(folder, 'one'), 'FIRST PROGRAM')],
    ['the manifest is missing', (folder) => rm(join(folder, 'manifest.json'))],
    ['the manifest was cut short', (folder) => truncate(join(folder, 'manifest.json'), 20)],
    ['the manifest names fewer files', (folder) => writeFile(join(folder, 'manifest.json'), '{"files":[]}')],
  ])('builds again when %s', async (_what, damage) => {
    const spec = entry();
    const { folder } = await get(spec);
    await damage(folder);
    expect((await get(spec)).origin).toBe('built');
    expect(await readFile(join(folder, 'one'), 'utf8')).toBe('first program');
    expect((await get(spec)).origin).toBe('cache');
  });

  it('keeps an entry whose files were only touched, as by a restored cache', async () => {
    const spec = entry();
    const { folder } = await get(spec);
    await utimes(join(folder, 'one'), 1, 1);
    expect((await get(spec)).origin).toBe('cache');
  });

  it('removes what a build left behind that died half-way', async () => {
    const spec = entry();
    const { folder } = await get(spec);
    const half = join(cache, 'tools', '.thing-1.0.0-abcdef012345.999999');
    await mkdir(half);
    await rm(folder, { recursive: true });
    await get(spec);
    await expect(stat(half)).rejects.toThrow();
  });

  it('publishes nothing when the build fails, and passes its error on', async () => {
    const failing = entry({ build: () => Promise.reject(new ToolError('BUILD_FAILED', 'does not compile')) });
    await expect(get(failing)).rejects.toMatchObject({ code: 'BUILD_FAILED' });
    expect(await readdir(join(cache, 'tools'))).toEqual([]);
    expect((await get(entry())).origin).toBe('built');
  });

  it('publishes nothing when the build forgets a file', async () => {
    await expect(get(entry({ files: ['one', 'three'] }))).rejects.toThrow(/three/);
    expect(await readdir(join(cache, 'tools'))).toEqual([]);
  });

  it('says which folder cannot be written to', async () => {
    const file = join(cache, 'file');
    await writeFile(file, '');
    vi.stubEnv('MUSTER_CACHE', file);
    await expect(get(entry())).rejects.toMatchObject({ code: 'CACHE_NOT_WRITABLE', hint: /MUSTER_CACHE/ });
  });

  it('lets one of two processes build while the other waits and says so', async () => {
    const log = join(cache, 'builds.log');
    const script = `
      import { appendFile, readFile, writeFile } from 'node:fs/promises';
      import { join } from 'node:path';
      import { setTimeout } from 'node:timers/promises';
      import { cachedEntry } from ${JSON.stringify(join(import.meta.dirname, 'cache.ts'))};
      import { createReporter } from ${JSON.stringify(join(import.meta.dirname, 'progress.ts'))};
      const { origin } = await cachedEntry({
        kind: 'tools', name: 'thing', version: '1', key: 'abcdef0123456789', files: ['one'],
        async build(into) {
          await appendFile(${JSON.stringify(log)}, 'build\\n');
          // Ends only when the other process waits: it has announced itself then.
          while (!(await readFile(${JSON.stringify(log)}, 'utf8')).includes('waits')) await setTimeout(20);
          await writeFile(join(into, 'one'), 'x');
        },
      }, {
        ...createReporter(),
        step: (title) => {
          if (title.includes('waiting')) void appendFile(${JSON.stringify(log)}, 'waits\\n');
          return createReporter().step(title);
        },
      });
      process.stdout.write(origin);
    `;
    const start = (): Promise<string> =>
      text(
        spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout,
      );
    const origins = await Promise.all([start(), start()]);
    expect(origins.sort()).toEqual(['built', 'cache']);
    expect((await readFile(log, 'utf8')).match(/build/g)).toHaveLength(1);
  });
});
