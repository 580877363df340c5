import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, stat, type FileHandle } from 'node:fs/promises';
import process from 'node:process';
import type { ImageDefinition, ImageEntry, ImageLayer } from './definition.ts';
import { tarBlock, tarEnd, tarHeader, tarPadding, type TarHeader } from './tar.ts';

/** What the OCI image specification calls a descriptor. */
interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const;

/** Architectures by the names of the OCI image specification. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Writes a tar file piece by piece and hashes what goes into its current member. */
class ArchiveWriter {
  readonly #file: FileHandle;
  #offset = 0;
  #hash: Hash | undefined;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async write(bytes: Buffer): Promise<void> {
    this.#hash?.update(bytes);
    await this.#file.write(bytes, 0, bytes.length, this.#offset);
    this.#offset += bytes.length;
  }

  /**
   * A member whose name is the digest of what `fill` writes: the header is written when the content is through, so
   * that nothing is read or hashed twice.
   */
  async blob(mediaType: string, fill: () => Promise<void>): Promise<Descriptor> {
    const start = this.#offset;
    this.#offset += tarBlock;
    this.#hash = createHash('sha256');
    await fill();
    const hex = this.#hash.digest('hex');
    this.#hash = undefined;
    const size = this.#offset - start - tarBlock;
    await this.write(tarPadding(size));
    const header = tarHeader({ name: `blobs/sha256/${hex}`, type: 'file', mode: 0o644, size });
    await this.#file.write(header, 0, tarBlock, start);
    return { mediaType, digest: `sha256:${hex}`, size };
  }

  json(mediaType: string, value: unknown): Promise<Descriptor> {
    return this.blob(mediaType, () => this.write(Buffer.from(JSON.stringify(value))));
  }

  async member(name: string, content: string): Promise<void> {
    const bytes = Buffer.from(content);
    await this.write(tarHeader({ name, type: 'file', mode: 0o644, size: bytes.length }));
    await this.write(bytes);
    await this.write(tarPadding(bytes.length));
  }
}

async function writeFileEntry(
  writer: ArchiveWriter,
  name: string,
  entry: ImageEntry & { type: 'file' },
): Promise<void> {
  const { source, mode } = entry;
  const content = 'text' in source ? Buffer.from(source.text) : undefined;
  const size = 'text' in source ? Buffer.byteLength(source.text) : (await stat(source.path)).size;
  await writer.write(tarHeader({ name, type: 'file', mode, size }));
  if (content !== undefined) await writer.write(content);
  else if ('path' in source) {
    for await (const chunk of createReadStream(source.path, { highWaterMark: 1 << 20 })) {
      await writer.write(chunk as Buffer);
    }
  }
  await writer.write(tarPadding(size));
}

async function writeLayer(writer: ArchiveWriter, layer: ImageLayer): Promise<void> {
  const made = new Set<string>();
  const folder = async (name: string, mode: number): Promise<void> => {
    if (made.has(name)) return;
    made.add(name);
    const header: TarHeader = { name: `${name}/`, type: 'folder', mode };
    await writer.write(tarHeader(header));
  };
  for (const entry of layer.entries) {
    const parts = entry.at.split('/').filter(Boolean);
    for (let depth = 1; depth < parts.length; depth += 1) await folder(parts.slice(0, depth).join('/'), 0o755);
    const name = parts.join('/');
    if (entry.type === 'folder') await folder(name, entry.mode);
    else if (entry.type === 'link') {
      await writer.write(tarHeader({ name, type: 'link', mode: 0o777, link: entry.to }));
    } else await writeFileEntry(writer, name, entry);
  }
  await writer.write(tarEnd);
}

function configOf(image: ImageDefinition, layers: readonly Descriptor[], architecture: string): unknown {
  return {
    created: '1970-01-01T00:00:00Z',
    architecture,
    os: 'linux',
    config: {
      User: image.user,
      Env: Object.entries(image.environment).map(([name, value]) => `${name}=${value}`),
      Entrypoint: image.entrypoint,
      WorkingDir: '/',
      Labels: image.labels,
    },
    rootfs: { type: 'layers', diff_ids: layers.map((layer) => layer.digest) },
    history: image.layers.map((layer) => ({ created: '1970-01-01T00:00:00Z', created_by: layer.name })),
  };
}

/**
 * Writes an OCI image layout as a tar archive, which `ctr images import`, `podman load` and `docker load` take.
 * Layers are not compressed: it never leaves the machine, and importing it is faster so.
 *
 * @returns the digest of the image's manifest and the bytes of the archive.
 */
export async function writeArchive(image: ImageDefinition, path: string): Promise<{ digest: string; size: number }> {
  const architecture = architectures[process.arch] ?? process.arch;
  const file = await open(path, 'w');
  try {
    const writer = new ArchiveWriter(file);
    const layers: Descriptor[] = [];
    for (const layer of image.layers) layers.push(await writer.blob(mediaTypes.layer, () => writeLayer(writer, layer)));
    const config = await writer.json(mediaTypes.config, configOf(image, layers, architecture));
    const manifest = await writer.json(mediaTypes.manifest, {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config,
      layers,
    });
    const annotations = {
      'io.containerd.image.name': image.ref,
      'org.opencontainers.image.ref.name': image.ref.slice(image.ref.lastIndexOf(':') + 1),
    };
    const index = { ...manifest, annotations, platform: { architecture, os: 'linux' } };
    await writer.member('index.json', JSON.stringify({ schemaVersion: 2, manifests: [index] }));
    await writer.member('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    await writer.write(tarEnd);
    return { digest: manifest.digest, size: (await file.stat()).size };
  } finally {
    await file.close();
  }
}

/** Up to this size a file is known by its content, above it by size and time: node and helm are not read to be known. */
const readBytes = 16 << 20;

async function fingerprintOf(entry: ImageEntry): Promise<unknown> {
  if (entry.type !== 'file' || 'text' in entry.source) return entry;
  const { size, mtimeMs } = await stat(entry.source.path);
  if (size > readBytes) return [entry, size, mtimeMs];
  return [
    entry.at,
    entry.mode,
    createHash('sha256')
      .update(await readFile(entry.source.path))
      .digest('hex'),
  ];
}

/** Changes when the archive would. */
export async function fingerprint(image: ImageDefinition): Promise<string> {
  const entries = await Promise.all(image.layers.flatMap((layer) => layer.entries.map(fingerprintOf)));
  const shape = { ...image, layers: image.layers.map((layer) => [layer.name, layer.entries.length]) };
  return createHash('sha256')
    .update(JSON.stringify([shape, entries]))
    .digest('hex');
}
