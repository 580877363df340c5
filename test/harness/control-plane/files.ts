/** What a control plane keeps on disk: keys, certificates, tokens, kubeconfigs. Made once per folder, then reused. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Authority } from '../pki/authority.ts';
import type { KeyPair } from '../pki/authority.ts';

/** Paths of a control plane's files, by what they are. */
export interface PlaneFiles {
  readonly dir: string;
  readonly authority: Authority;
  readonly adminToken: string;
  path(name: PlaneFile): string;
}

type PlaneFile =
  | 'ca.crt'
  | 'ca.key'
  | 'apiserver.crt'
  | 'apiserver.key'
  | 'kubelet-client.crt'
  | 'kubelet-client.key'
  | 'service-account.key'
  | 'service-account.pub'
  | 'tokens.csv'
  | 'kubeconfig'
  | 'etcd';

/** The first address of the service range is the apiserver's own (Kubernetes: Service `default/kubernetes`). */
export const serviceRange = '10.0.0.0/24';
const apiServerHosts = [
  '127.0.0.1',
  '10.0.0.1',
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

/** Reads the files of `dir`, making those that are missing. `hosts`: more names for the serving certificate. */
export function planeFiles(dir: string, hosts: readonly string[] = []): PlaneFiles {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = (name: PlaneFile): string => join(dir, name);
  const write = (name: PlaneFile, text: string): void => writeFileSync(path(name), text, { mode: 0o600 });
  if (!existsSync(path('kubelet-client.key'))) {
    const authority = Authority.create('muster-test-ca');
    write('ca.crt', authority.cert);
    write('ca.key', authority.key);
    writePair(write, 'apiserver', servingPair(authority, hosts));
    const serviceAccount = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    write('service-account.key', serviceAccount.privateKey.export({ type: 'sec1', format: 'pem' }) as string);
    write('service-account.pub', serviceAccount.publicKey.export({ type: 'spki', format: 'pem' }) as string);
    write('tokens.csv', `${randomBytes(24).toString('hex')},admin,admin,"system:masters"\n`);
    // Kubernetes: system:masters may do everything, so no binding has to exist before a kubelet can be reached.
    writePair(
      write,
      'kubelet-client',
      authority.issue({
        commonName: 'kube-apiserver-kubelet-client',
        organizations: ['system:masters'],
        usages: ['client'],
      }),
    );
  }
  const pair = { cert: readFileSync(path('ca.crt'), 'utf8'), key: readFileSync(path('ca.key'), 'utf8') };
  const adminToken = readFileSync(path('tokens.csv'), 'utf8').split(',')[0] ?? '';
  return { dir, authority: Authority.load(pair), adminToken, path };
}

function servingPair(authority: Authority, hosts: readonly string[]): KeyPair {
  return authority.issue({ commonName: 'kube-apiserver', hosts: [...apiServerHosts, ...hosts], usages: ['server'] });
}

/** A serving certificate of another authority, for the apiserver's next start. */
export function replaceServingPair({ path }: PlaneFiles, authority: Authority, hosts: readonly string[] = []): void {
  const write = (name: PlaneFile, text: string): void => writeFileSync(path(name), text, { mode: 0o600 });
  writePair(write, 'apiserver', servingPair(authority, hosts));
}

function writePair(
  write: (name: PlaneFile, text: string) => void,
  name: 'apiserver' | 'kubelet-client',
  pair: KeyPair,
): void {
  write(`${name}.crt`, pair.cert);
  write(`${name}.key`, pair.key);
}

/** How a kubeconfig signs in. */
export type KubeconfigUser = { readonly token: string } | { readonly cert: string; readonly key: string };

/** A kubeconfig with everything inline. JSON is YAML, so nothing needs quoting rules. */
export function kubeconfigText(server: string, ca: string, user: KubeconfigUser, namespace?: string): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const auth =
    'token' in user
      ? { token: user.token }
      : { 'client-certificate-data': base64(user.cert), 'client-key-data': base64(user.key) };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: 'default', user: auth }],
    contexts: [
      {
        name: 'default',
        context: { cluster: 'default', user: 'default', ...(namespace === undefined ? {} : { namespace }) },
      },
    ],
    'current-context': 'default',
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
