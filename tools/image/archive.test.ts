import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exec } from '../exec.ts';
import { fingerprint, writeArchive } from './archive.ts';
import { writeContext } from './containerfile.ts';
import { data, program, sharedFolder, text, type ImageDefinition } from './definition.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-archive-'));
  await writeFile(join(folder, 'app.cjs'), 'one');
});
afterEach(() => rm(folder, { recursive: true }));

const image = (): ImageDefinition => ({
  ref: 'localhost/thing:dev',
  layers: [
    { name: 'base', entries: [sharedFolder('/tmp'), text('/etc/passwd', 'root\n'), program('/bin/tool', '/bin/sh')] },
    {
      name: 'app',
      entries: [data('/app/app.cjs', join(folder, 'app.cjs')), { type: 'link', at: '/app/link', to: 'app.cjs' }],
    },
  ],
  environment: { PATH: '/bin', HOME: '/tmp' },
  entrypoint: ['/bin/tool'],
  user: '65532:65532',
  labels: { title: 'thing' },
});

interface Unpacked {
  readonly index: { manifests: { digest: string; annotations: Record<string, string> }[] };
  readonly manifest: { layers: { digest: string; size: number }[]; config: { digest: string } };
  readonly config: { config: Record<string, unknown>; rootfs: { diff_ids: string[] } };
  readonly blob: (digest: string) => string;
}

/** Reads the archive as a container runtime would. */
async function unpack(path: string): Promise<Unpacked> {
  const into = `${path}.unpacked`;
  await mkdir(into);
  expect(await exec('tar', ['-xf', path, '-C', into])).toMatchObject({ code: 0 });
  const blob = (digest: string): string => join(into, 'blobs', ...digest.split(':'));
  const json = async <T>(file: string): Promise<T> => JSON.parse(await readFile(file, 'utf8')) as T;
  const index = await json<Unpacked['index']>(join(into, 'index.json'));
  const manifest = await json<Unpacked['manifest']>(blob(index.manifests[0]?.digest ?? ''));
  return { index, manifest, config: await json(blob(manifest.config.digest)), blob };
}

describe('writeArchive', () => {
  it('names every blob by its content', async () => {
    const path = join(folder, 'a.tar');
    const { digest } = await writeArchive(image(), path);
    const { index, manifest, config, blob } = await unpack(path);
    expect(index.manifests[0]?.digest).toBe(digest);
    for (const each of [...manifest.layers, manifest.config, { digest }]) {
      const content = await readFile(blob(each.digest));
      expect(each.digest).toBe(`sha256:${createHash('sha256').update(content).digest('hex')}`);
    }
    expect(config.rootfs.diff_ids).toEqual(manifest.layers.map((layer) => layer.digest));
  });

  it('carries name, user, environment and entry point', async () => {
    const path = join(folder, 'a.tar');
    await writeArchive(image(), path);
    const { index, config } = await unpack(path);
    expect(index.manifests[0]?.annotations['io.containerd.image.name']).toBe('localhost/thing:dev');
    expect(config.config).toMatchObject({
      User: '65532:65532',
      Env: ['PATH=/bin', 'HOME=/tmp'],
      Entrypoint: ['/bin/tool'],
    });
  });

  it('gives the same image for the same content, whatever the times of the files are', async () => {
    const first = await writeArchive(image(), join(folder, 'a.tar'));
    await utimes(join(folder, 'app.cjs'), 1, 1);
    const second = await writeArchive(image(), join(folder, 'b.tar'));
    expect(second).toEqual(first);
  });

  it('changes only the layer whose files changed', async () => {
    await writeArchive(image(), join(folder, 'a.tar'));
    const before = await unpack(join(folder, 'a.tar'));
    await writeFile(join(folder, 'app.cjs'), 'two');
    await writeArchive(image(), join(folder, 'b.tar'));
    const after = await unpack(join(folder, 'b.tar'));
    expect(after.manifest.layers[0]).toEqual(before.manifest.layers[0]);
    expect(after.manifest.layers[1]).not.toEqual(before.manifest.layers[1]);
  });
});

describe('writeContext', () => {
  it('gives a container build the very files of the archive', async () => {
    const path = join(folder, 'a.tar');
    await writeArchive(image(), path);
    const { manifest, blob } = await unpack(path);
    const context = join(folder, 'context');
    await writeContext(image(), context);
    for (const [at, layer] of ['base', 'app'].entries()) {
      const root = join(folder, `layer-${at}`);
      await mkdir(root);
      await exec('tar', ['-xpf', blob(manifest.layers[at]?.digest ?? ''), '-C', root]);
      expect(await exec('diff', ['-r', '--no-dereference', root, join(context, layer)])).toMatchObject({ stdout: '' });
      const modes = (where: string) => exec('find', ['.', '-printf', '%P %m\n'], { cwd: where });
      const [inArchive, inContext] = await Promise.all([modes(root), modes(join(context, layer))]);
      expect(inContext.stdout.split('\n').slice(1).sort()).toEqual(inArchive.stdout.split('\n').slice(1).sort());
    }
    expect(await readFile(join(context, 'Containerfile'), 'utf8')).toContain(
      [
        'FROM scratch',
        'COPY base/ /',
        'COPY app/ /',
        'ENV PATH="/bin"',
        'ENV HOME="/tmp"',
        'LABEL title="thing"',
        'USER 65532:65532',
        'WORKDIR /',
        'ENTRYPOINT ["/bin/tool"]',
      ].join('\n'),
    );
  });
});

describe('fingerprint', () => {
  it('changes with content, user and environment, and with nothing else', async () => {
    const before = await fingerprint(image());
    await utimes(join(folder, 'app.cjs'), 1, 1);
    expect(await fingerprint(image())).toBe(before);
    expect(await fingerprint({ ...image(), user: '0:0' })).not.toBe(before);
    expect(await fingerprint({ ...image(), environment: {} })).not.toBe(before);
    await writeFile(join(folder, 'app.cjs'), 'two');
    expect(await fingerprint(image())).not.toBe(before);
  });
});
