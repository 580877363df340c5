/** PKCS #10 certificate requests (RFC 2986), as an agent makes them for a CertificateSigningRequest. */
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { distinguishedName, ecdsaWithSha256, pem } from './authority.ts';
import { bits, integer, sequence, tagged } from './der.ts';

/** A new P-256 key and a request for a certificate of it, both PEM. */
export function certificateRequest(
  commonName: string,
  organizations: readonly string[] = [],
): { readonly request: string; readonly key: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = sequence(
    integer(Buffer.from([0])), // version 1
    distinguishedName(commonName, organizations),
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    tagged(0), // no attributes
  );
  const request = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, privateKey)));
  return {
    request: pem('CERTIFICATE REQUEST', request),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
