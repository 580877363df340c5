/** Whom the agent trusts as its hub: the three meanings of `agentTLSMode`. */
import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { isMusterError } from '../../../api/errors.ts';
import { AgentError } from './failure.ts';

/** What the edge's configuration and bootstrap Secret say about trust. */
export interface TrustInput {
  /** Address of the hub. */
  readonly server: string;
  /** PEM; empty when none was given. */
  readonly ca: string;
  /** `strict`, `system-store`, or empty when nothing was configured. Anything else counts as `strict`, as in Fleet. */
  readonly mode: string;
}

/** Calls the server with the given trusted roots (PEM); rejects with TLS_UNTRUSTED when they do not vouch for it. */
export type Probe = (server: string, roots: string) => Promise<void>;

/**
 * The CA that goes into the stored kubeconfig, or `undefined` to trust the operating system's roots.
 *
 * - `system-store`: the roots are tried first; if they vouch for the server, the given CA is left out, so that a later
 *   change of a publicly trusted certificate needs no new registration. Otherwise the CA is used.
 * - `strict`: the CA and nothing else; without one registration is impossible.
 * - not configured: the CA if there is one, else the roots.
 *
 * @throws AgentError HubUntrusted, ConfigInvalid; errors of `probe` that are not about trust.
 */
export async function decideTrust(input: TrustInput, probe: Probe): Promise<string | undefined> {
  const given = input.ca.trim() === '' ? undefined : input.ca;
  if (input.mode === '') return given;
  if (input.mode !== 'system-store') {
    if (given !== undefined) return given;
    throw new AgentError('ConfigInvalid', 'TLS_UNTRUSTED', 'agentTLSMode strict needs the CA of the hub', {
      where: 'Secret fleet-agent-bootstrap, apiServerCA',
      hint: 'Give apiServerCA, or set agentTLSMode to system-store if the hub has a publicly trusted certificate.',
    });
  }
  try {
    await probe(input.server, systemRoots());
    return undefined;
  } catch (error) {
    if (isMusterError(error, 'TLS_UNTRUSTED') && given !== undefined) return given;
    throw error;
  }
}

/** Where Linux distributions keep their trusted certificates (Go: crypto/x509, certFiles), most common first. */
const bundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * PEM of the certificates that the operating system trusts: the file that SSL_CERT_FILE names, else the distribution's
 * bundle; with those of NODE_EXTRA_CA_CERTS. Where there is no such file, as in a bare image, those that Node.js
 * carries. Read anew each time, and from files: Node's own reader of the system's store never gives back the 5 MB that
 * it takes, and an agent with a CA of its own needs this once.
 */
export function systemRoots(env: Readonly<NodeJS.ProcessEnv> = process.env): string {
  const files = env['SSL_CERT_FILE'] ? [env['SSL_CERT_FILE']] : bundles;
  const system =
    files.map(certificatesIn).find((text) => text !== undefined) ?? getCACertificates('bundled').join('\n');
  const extra = env['NODE_EXTRA_CA_CERTS'] ? certificatesIn(env['NODE_EXTRA_CA_CERTS']) : undefined;
  return extra === undefined ? system : `${system}\n${extra}`;
}

function certificatesIn(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    return text.includes('-----BEGIN CERTIFICATE-----') ? text : undefined;
  } catch {
    return undefined;
  }
}
