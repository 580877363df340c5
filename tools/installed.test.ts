import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled } from './installed.mjs';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-installed-'));
});
afterEach(() => rm(root, { recursive: true }));

const packages = {
  '': { name: 'x' },
  'node_modules/a': { version: '1.0.0' },
  'node_modules/elsewhere': { version: '2.0.0', optional: true },
};

async function given(installed: unknown, withNode = true): Promise<void> {
  await mkdir(join(root, 'node_modules', '.bin'), { recursive: true });
  await writeFile(join(root, 'package-lock.json'), JSON.stringify({ packages }));
  await writeFile(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: installed }));
  if (withNode) await writeFile(join(root, 'node_modules', '.bin', 'node'), '');
}

describe('isInstalled', () => {
  it('is true when npm has installed the versions of the lock file', async () => {
    await given({ 'node_modules/a': { version: '1.0.0' } });
    expect(isInstalled(root)).toBe(true);
  });

  it('is false on a fresh clone', () => {
    expect(isInstalled(root)).toBe(false);
  });

  it('is false when a package has another version', async () => {
    await given({ 'node_modules/a': { version: '0.9.0' } });
    expect(isInstalled(root)).toBe(false);
  });

  it('is false when a package is missing', async () => {
    await given({});
    expect(isInstalled(root)).toBe(false);
  });

  it('is false when Node.js 24 is missing, as after an installation without scripts', async () => {
    await given({ 'node_modules/a': { version: '1.0.0' } }, false);
    expect(isInstalled(root)).toBe(false);
  });
});
