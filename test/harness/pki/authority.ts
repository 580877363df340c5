/**
 * A certificate authority for tests: P-256 keys from node:crypto, certificates encoded here (RFC 5280). No openssl child
 * processes, so that a control plane's whole PKI takes a few milliseconds.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { bits, boolean, implicit, integer, octets, oid, sequence, set, tagged, time, utf8 } from './der.ts';

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate is for. */
export interface CertificateRequest {
  readonly commonName: string;
  /** Kubernetes reads these as groups. */
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses, for a server. */
  readonly hosts?: readonly string[];
  /** Default: both, as an apiserver that also talks to kubelets needs. */
  readonly usages?: readonly ('server' | 'client')[];
  /** Default: a day ago. */
  readonly notBefore?: Date;
  /** Default: in ten years. In the past for tests of expired certificates. */
  readonly notAfter?: Date;
}

const day = 86_400_000;
const usageOids = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;
export const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));

/** Issues certificates. */
export class Authority {
  /** Its own certificate, PEM. */
  readonly cert: string;
  /** Its private key, PEM. */
  readonly key: string;
  #commonName: string;
  #privateKey: KeyObject;

  /** A new authority. The name is unique, so that verifiers never mistake one test's authority for another's. */
  static create(name = 'muster-test-ca'): Authority {
    const commonName = `${name}-${randomBytes(4).toString('hex')}`;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const extensions = [
      extension('2.5.29.19', true, sequence(boolean(true))),
      extension('2.5.29.15', true, bits(Buffer.from([0b0000_0110]), 1)), // keyCertSign, cRLSign
    ];
    const cert = certificate({ commonName }, { commonName, privateKey }, createPublicKey(privateKey), extensions);
    return new Authority(commonName, cert, privateKey);
  }

  /** An authority made before, from its two files. */
  static load(pair: KeyPair): Authority {
    const commonName = new X509Certificate(pair.cert).subject.replace(/^CN=/, '');
    return new Authority(commonName, pair.cert, createPrivateKey(pair.key));
  }

  private constructor(commonName: string, cert: string, privateKey: KeyObject) {
    this.#commonName = commonName;
    this.#privateKey = privateKey;
    this.cert = cert;
    this.key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  }

  issue(request: CertificateRequest): KeyPair {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const usages = request.usages ?? ['server', 'client'];
    const extensions = [
      extension('2.5.29.19', true, sequence()),
      extension('2.5.29.15', true, bits(Buffer.from([0b1000_0000]), 7)), // digitalSignature
      extension('2.5.29.37', false, sequence(...usages.map((usage) => oid(usageOids[usage])))),
    ];
    if (request.hosts !== undefined) extensions.push(extension('2.5.29.17', false, alternativeNames(request.hosts)));
    const issuer = { commonName: this.#commonName, privateKey: this.#privateKey };
    const cert = certificate(request, issuer, createPublicKey(privateKey), extensions);
    return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
  }
}

function certificate(
  subject: CertificateRequest,
  issuer: { commonName: string; privateKey: KeyObject },
  publicKey: KeyObject,
  extensions: readonly Buffer[],
): string {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40; // positive and not zero
  const identifiers = [
    extension('2.5.29.14', false, octets(keyIdentifier(publicKey))),
    extension('2.5.29.35', false, sequence(implicit(0, keyIdentifier(createPublicKey(issuer.privateKey))))),
  ];
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))), // v3
    integer(serial),
    ecdsaWithSha256,
    distinguishedName(issuer.commonName, []),
    sequence(
      time(subject.notBefore ?? new Date(Date.now() - day)),
      time(subject.notAfter ?? new Date(Date.now() + 3650 * day)),
    ),
    distinguishedName(subject.commonName, subject.organizations ?? []),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...extensions, ...identifiers)),
  );
  const signature = sign('sha256', body, issuer.privateKey);
  return pem('CERTIFICATE', sequence(body, ecdsaWithSha256, bits(signature)));
}

function extension(id: string, critical: boolean, value: Uint8Array): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));
}

export function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (id: string, value: string): Buffer => set(sequence(oid(id), utf8(value)));
  return sequence(...organizations.map((name) => attribute('2.5.4.10', name)), attribute('2.5.4.3', commonName));
}

function alternativeNames(hosts: readonly string[]): Buffer {
  return sequence(
    ...hosts.map((host) =>
      isIP(host) === 4
        ? implicit(7, Buffer.from(host.split('.').map(Number)))
        : implicit(2, Buffer.from(host, 'ascii')),
    ),
  );
}

function keyIdentifier(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}

export function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
