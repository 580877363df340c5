import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildPackage } from './build.ts';
import { bundleNames } from './bundle.ts';
import { exec } from './exec.ts';
import { silentReporter } from './progress.ts';
import { repositoryRoot } from './repository.ts';

const path = (name: string): string => join(repositoryRoot, 'dist', 'bin', name);

/** The npm packages in a bundle, which names the file that each part comes from. */
async function packagesIn(name: string): Promise<string[]> {
  const text = await readFile(path(name), 'utf8');
  const found = [...text.matchAll(/^\s*\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)\//gm)].map((match) => match[1] ?? '');
  return [...new Set(found)].sort();
}

beforeAll(() => buildPackage(silentReporter));

describe('the bundles', () => {
  it('leave out of the agent what only hub and command need', async () => {
    const packages = await packagesIn('agent.cjs');
    expect(packages).toContain('pino');
    for (const heavy of ['zod', 'cdk8s', 'constructs', 'commander', '@pulumi/pulumi']) {
      expect(packages).not.toContain(heavy);
    }
  });

  it('leave out of the dispatcher everything: each command brings its own', async () => {
    expect(await packagesIn('muster.cjs')).toEqual([]);
  });

  it.each(['', 'hub', 'agent'])('run as `muster %s --help` where there is no node_modules', async (command) => {
    const folder = await mkdtemp(join(tmpdir(), 'muster-bundle-'));
    try {
      for (const name of bundleNames) await copyFile(path(name), join(folder, name));
      const args = [join(folder, 'muster.cjs'), command, '--help'].filter(Boolean);
      const result = await exec(process.execPath, args, { cwd: folder });
      expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining(`Usage: muster ${command}`) as string });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
