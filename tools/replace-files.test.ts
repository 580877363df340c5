import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { replaceFiles } from './replace-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-replace-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function given(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, name, file);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, text);
  }
  return join(folder, name);
}

it('puts new files in the place of old ones and removes the rest', async () => {
  const from = await given('new', { 'a.js': 'new', 'b/c.js': 'new', '.stamp': '2' });
  const to = await given('old', { 'a.js': 'old', 'gone/d.js': 'old', '.stamp': '1' });
  await replaceFiles(from, to, '.stamp');
  const read = (name: string) => readFile(join(to, name), 'utf8');
  expect([await read('a.js'), await read('b/c.js'), await read('.stamp')]).toEqual(['new', 'new', '2']);
  expect(await readdir(join(to, 'gone'))).toEqual([]);
  expect(await readdir(folder)).toEqual(['old']);
});

it('never has a file missing while it works', async () => {
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}.js`, 'old']));
  const to = await given('old', files);
  let done = false;
  let missing = 0;
  const watching = (async () => {
    while (!done) await readFile(join(to, '49.js')).catch(() => (missing += 1));
  })();
  for (let round = 0; round < 10; round += 1) await replaceFiles(await given('new', files), to, '.stamp');
  done = true;
  await watching;
  expect(missing).toBe(0);
});

it('makes the folder where there is none', async () => {
  const from = await given('new', { 'a.js': 'new' });
  await replaceFiles(from, join(folder, 'none'), '.stamp');
  expect(await readdir(join(folder, 'none'))).toEqual(['a.js']);
});
