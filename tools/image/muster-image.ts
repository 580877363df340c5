import { access, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { rootCertificates } from 'node:tls';
import { bundleNames } from '../bundle.ts';
import { ensureTools } from '../ensure-tools.ts';
import { exec } from '../exec.ts';
import type { Reporter } from '../progress.ts';
import { npmBinFolder, repositoryRoot } from '../repository.ts';
import { ToolError } from '../tool-error.ts';
import { data, program, sharedFolder, text, type ImageDefinition, type ImageEntry } from './definition.ts';

/** Name of the image in tests, demo and examples. */
export const musterImageRef = 'localhost/muster:dev';

/** The user of most images without root; manifests may name another one, all files are readable by anyone. */
const user = '65532';

/** Shared libraries of a program with its loader, at the places where the loader looks for them. */
async function librariesOf(path: string): Promise<ImageEntry[]> {
  const result = await exec('ldd', [path]);
  if (result.code !== 0) {
    throw new ToolError('UNSUPPORTED_PLATFORM', 'its shared libraries cannot be listed with ldd', {
      what: 'muster image',
      hint: 'Build the image on Linux with glibc.',
    });
  }
  const found = [...result.stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map((match) => match[1] ?? '');
  return Promise.all([...new Set(found)].sort().map(async (library) => program(library, await realpath(library))));
}

/**
 * Starts the command with this image's Node.js: a `#!` line takes no search path, and the image has neither a shell
 * nor `env`.
 */
const launcher = "#!/usr/local/bin/node\nrequire('/app/muster.cjs');\n";

async function bundles(): Promise<ImageEntry[]> {
  const folder = join(repositoryRoot, 'dist', 'bin');
  for (const name of bundleNames) {
    await access(join(folder, name)).catch(() => {
      throw new ToolError('BUILD_FAILED', `dist/bin/${name} is not there`, {
        what: 'muster image',
        hint: 'Run `npm run build` first.',
      });
    });
  }
  return bundleNames.map((name) => data(`/app/${name}`, join(folder, name)));
}

/** The image that users run, and that tests and demo run too: Node.js, helm, muster; no shell, no package manager. */
export async function musterImage(reporter: Reporter): Promise<ImageDefinition> {
  if (process.platform !== 'linux') {
    throw new ToolError('UNSUPPORTED_PLATFORM', `an image holds Linux programs, this is ${process.platform}`, {
      what: 'muster image',
      hint: 'Build the image on Linux.',
    });
  }
  const node = await realpath(join(npmBinFolder, 'node'));
  const { helm } = await ensureTools(['helm'], reporter);
  const { version } = JSON.parse(await readFile(join(repositoryRoot, 'package.json'), 'utf8')) as { version: string };
  return {
    ref: musterImageRef,
    layers: [
      {
        name: 'node',
        entries: [
          text('/etc/passwd', `root:x:0:0:root:/:/sbin/nologin\nmuster:x:${user}:${user}:muster:/tmp:/sbin/nologin\n`),
          text('/etc/group', `root:x:0:\nmuster:x:${user}:\n`),
          text('/etc/nsswitch.conf', 'hosts: files dns\n'),
          // Mozilla's list as this Node.js carries it: what the building machine trusts is nobody else's business.
          text('/etc/ssl/certs/ca-certificates.crt', `${rootCertificates.join('\n')}\n`),
          sharedFolder('/tmp'),
          ...(await librariesOf(node)),
          program('/usr/local/bin/node', node),
        ],
      },
      { name: 'helm', entries: [program('/usr/local/bin/helm', helm.path)] },
      { name: 'app', entries: [...(await bundles()), text('/usr/local/bin/muster', launcher, 0o755)] },
    ],
    environment: {
      PATH: '/usr/local/bin',
      HOME: '/tmp',
      NODE_ENV: 'production',
      SSL_CERT_FILE: '/etc/ssl/certs/ca-certificates.crt',
    },
    entrypoint: ['/usr/local/bin/muster'],
    user: `${user}:${user}`,
    labels: { 'org.opencontainers.image.title': 'muster', 'org.opencontainers.image.version': version },
  };
}
