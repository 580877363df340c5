/**
 * Looks for secrets where they must not be. The secrets are those that a run really made: every value of every Secret of
 * its clusters, the tokens and keys inside kubeconfigs among them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secrets } from '../../api/kubernetes/core.ts';
import { createCache } from '../../runtime/kube/cache.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';

/** What a bearer token (JWT) looks like wherever it stands. */
const tokenPattern = /eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/g;
/** Base64 of a private key in a kubeconfig. */
const keyDataPattern = /client-key-data: *"?([A-Za-z0-9+/=]{40,})/g;
/** The lines of a PEM private key. */
const privateKeyPattern = /-----BEGIN [A-Z ]*PRIVATE KEY-----([\s\S]*?)-----END/g;
/** A `token:` of a kubeconfig or values file, whatever its form. */
const plainTokenPattern = /\btoken"?: *"?([^\s",}]{8,})/g;

/** Tokens and keys in one text. */
export function secretsIn(text: string): string[] {
  const keys = [...text.matchAll(privateKeyPattern)].flatMap(([, body = '']) =>
    body.split('\n').filter((line) => line.length > 40),
  );
  const groups = [keyDataPattern, plainTokenPattern].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, value = '']) => value),
  );
  return [...(text.match(tokenPattern) ?? []), ...groups, ...keys];
}

/** Adds every token and key of every Secret that the cluster holds from now on, short-lived ones too, to `found`. */
export async function collectSecrets(client: KubeClient, found: Set<string>, signal: AbortSignal): Promise<void> {
  const cache = createCache(client, Secrets);
  cache.subscribe(({ object }) => {
    for (const value of Object.values(object.data ?? {})) {
      for (const secret of secretsIn(Buffer.from(value, 'base64').toString('utf8'))) found.add(secret);
    }
  });
  void cache.start(signal);
  await cache.whenSynced(signal);
}

/** Where each secret stands in a text: nothing of the secret itself but its first characters. */
export function findSecrets(secrets: ReadonlySet<string>, where: string, text: string): string[] {
  return [...secrets].filter((secret) => text.includes(secret)).map((secret) => `${where}: ${secret.slice(0, 6)}…`);
}

/** Everything that the API shows to readers without rights on Secrets: all objects of all other kinds, as JSON. */
export async function readableObjects(client: KubeClient): Promise<string> {
  const { groups } = (await client.raw('/apis')) as { groups: { preferredVersion: { groupVersion: string } }[] };
  const paths = ['/api/v1', ...groups.map((group) => `/apis/${group.preferredVersion.groupVersion}`)];
  const texts = await Promise.all(
    paths.map(async (path) => {
      const { resources } = (await client.raw(path)) as { resources: { name: string; verbs: string[] }[] };
      const names = resources.filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'));
      const lists = names.filter(({ name }) => name !== 'secrets').map(({ name }) => client.raw(`${path}/${name}`));
      return JSON.stringify(await Promise.all(lists));
    }),
  );
  return texts.join('\n');
}

/** The contents of every file named `*.log` below a folder. */
export function logsBelow(folder: string): { file: string; text: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.log'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
}

/** Collects the command lines of all processes of this machine until it is stopped (Linux; elsewhere none). */
export class ArgvSampler {
  readonly #seen = new Set<string>();
  readonly #timer: NodeJS.Timeout | undefined;

  constructor() {
    if (process.platform === 'linux') this.#timer = setInterval(() => this.#sample(), 50);
  }

  #sample(): void {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        this.#seen.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
      } catch {
        // ended meanwhile
      }
    }
  }

  stop(): string {
    clearInterval(this.#timer);
    return [...this.#seen].join('\n');
  }
}
