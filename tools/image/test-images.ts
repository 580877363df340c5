import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { cachedEntry, hashOf } from '../cache.ts';
import { ensureTools } from '../ensure-tools.ts';
import { exec } from '../exec.ts';
import type { Reporter } from '../progress.ts';
import { ToolError } from '../tool-error.ts';
import { program, sharedFolder, type ImageDefinition } from './definition.ts';

/** Name of the image that a node's containerd needs for every pod (its `sandbox_image`). */
export const pauseImageRef = 'localhost/pause:1';
/** Name of the small image with a shell for tests of pods. */
export const busyboxImageRef = 'localhost/busybox:1';

const source = join(import.meta.dirname, 'pause');

/** A static program of our own: nothing is asked of a C library, and Go is needed for the other programs anyway. */
async function pauseProgram(reporter: Reporter): Promise<string> {
  const files = await Promise.all(['go.mod', 'main.go'].map((name) => readFile(join(source, name), 'utf8')));
  const entry = await cachedEntry(
    {
      kind: 'tools',
      name: 'pause',
      version: '1',
      key: hashOf(...files, process.platform, process.arch),
      files: ['pause'],
      async build(into) {
        const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off', GOOS: 'linux' };
        const args = ['build', '-trimpath', '-ldflags', '-s -w', '-o', join(into, 'pause'), '.'];
        const result = await exec('go', args, { cwd: source, env });
        if (result.missing) {
          throw new ToolError('MISSING_TOOLCHAIN', 'the Go toolchain is not on PATH', {
            what: 'pause image',
            hint: 'Install Go 1.21 or newer.',
          });
        }
        if (result.code !== 0) throw new ToolError('BUILD_FAILED', result.stderr, { what: 'pause image' });
      },
    },
    reporter,
  );
  return join(entry.folder, 'pause');
}

/** The image that holds a pod's namespaces. */
export async function pauseImage(reporter: Reporter): Promise<ImageDefinition> {
  return {
    ref: pauseImageRef,
    layers: [{ name: 'pause', entries: [program('/pause', await pauseProgram(reporter))] }],
    environment: {},
    entrypoint: ['/pause'],
    user: '65535:65535',
    labels: {},
  };
}

const applets = ['sh', 'cat', 'ls', 'sleep', 'echo', 'id', 'ps', 'env', 'grep', 'hostname', 'nc', 'ip', 'ping', 'true'];

/** A shell and a few commands. */
export async function busyboxImage(reporter: Reporter): Promise<ImageDefinition> {
  const { busybox } = await ensureTools(['busybox'], reporter);
  return {
    ref: busyboxImageRef,
    layers: [
      {
        name: 'busybox',
        entries: [
          program('/bin/busybox', busybox.path),
          ...applets.map((name) => ({ type: 'link', at: `/bin/${name}`, to: 'busybox' }) as const),
          sharedFolder('/tmp'),
          { type: 'folder', at: '/etc', mode: 0o755 },
        ],
      },
    ],
    environment: { PATH: '/bin' },
    entrypoint: ['/bin/busybox'],
    user: '0:0',
    labels: {},
  };
}
