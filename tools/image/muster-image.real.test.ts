import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPackage } from '../build.ts';
import { exec, type ExecResult } from '../exec.ts';
import { silentReporter } from '../progress.ts';
import { buildImage, buildPauseImage } from './index.ts';

let folder: string;
let root: string;

interface Manifest {
  readonly layers: readonly { readonly digest: string }[];
}

/** Lays the layers of an archive over each other, as a container runtime does. */
async function unpackRoot(archive: string, into: string): Promise<void> {
  const layout = join(folder, 'layout');
  await mkdir(layout);
  await exec('tar', ['-xf', archive, '-C', layout]);
  const blob = (digest: string): string => join(layout, 'blobs', ...digest.split(':'));
  const index = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as { manifests: { digest: string }[] };
  const manifest = JSON.parse(await readFile(blob(index.manifests[0]?.digest ?? ''), 'utf8')) as Manifest;
  await mkdir(into);
  for (const layer of manifest.layers) await exec('tar', ['-xpf', blob(layer.digest), '-C', into]);
  await rm(layout, { recursive: true });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-image-'));
  root = join(folder, 'root');
  await buildPackage(silentReporter);
  const { archive } = await buildImage({ out: join(folder, 'muster.tar'), reporter: silentReporter });
  await unpackRoot(archive, root);
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a program that sees only the image's files, as the image's user and with its environment. */
function inImage(...command: string[]): Promise<ExecResult> {
  const asUser = ['--userspec=65532:65532', root, ...command];
  const [program = '', ...args] =
    process.getuid?.() === 0
      ? ['chroot', ...asUser]
      : ['unshare', '--user', '--map-root-user', 'chroot', root, ...command];
  return exec(program, args, {
    env: { PATH: `/usr/local/bin:${process.env.PATH}`, HOME: '/tmp', NODE_ENV: 'production' },
  });
}

describe('the muster image', () => {
  it('has the command on its PATH, without a shell', async () => {
    const result = await inImage('muster', '--version');
    expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
    expect((await inImage('sh')).code).not.toBe(0);
  });

  it.each(['hub', 'agent'])('starts the %s process from its own bundle', async (name) => {
    const result = await inImage('muster', name, '--help');
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining(`muster ${name}`) as string });
  });

  it('runs Node.js 24 and helm 4', async () => {
    expect((await inImage('node', '--version')).stdout).toMatch(/^v24\./);
    expect((await inImage('helm', 'version', '--short')).stdout).toMatch(/^v4\./);
  });

  it('trusts public certificate authorities', async () => {
    const file = '/etc/ssl/certs/ca-certificates.crt';
    const count = `process.stdout.write(String(fs.readFileSync('${file}', 'utf8').split('BEGIN CERTIFICATE').length))`;
    expect(Number((await inImage('node', '-e', count)).stdout)).toBeGreaterThan(50);
  });
});

describe('buildImage', () => {
  it('makes nothing again when nothing changed, and the whole again when the archive is damaged', async () => {
    const out = join(folder, 'pause.tar');
    const steps: string[] = [];
    const reporter = {
      ...silentReporter,
      step: (title: string) => {
        steps.push(title);
        return silentReporter.step(title);
      },
    };
    const first = await buildPauseImage({ out, reporter });
    steps.length = 0;
    expect(await buildPauseImage({ out, reporter })).toEqual(first);
    expect(steps).toEqual([]);
    await exec('truncate', ['-s', '100', out]);
    await writeFile(`${out}.half-1`, 'left by a build that was ended');
    expect(await buildPauseImage({ out, reporter })).toEqual(first);
    expect(steps).toEqual(['image localhost/pause:1']);
    await expect(access(`${out}.half-1`)).rejects.toThrow();
  });
});
