/** The certificates that the operating system trusts. Node.js by itself trusts those that it carries. */
import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';

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
