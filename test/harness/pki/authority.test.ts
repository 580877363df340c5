import { createPublicKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Authority } from './authority.ts';
import { oid, sequence } from './der.ts';

describe('Authority', () => {
  it('signs certificates that verify against its own', () => {
    const authority = Authority.create();
    const pair = authority.issue({
      commonName: 'server',
      hosts: ['127.0.0.1', 'a.example'],
      organizations: ['one', 'two'],
    });

    const cert = new X509Certificate(pair.cert);
    const ca = new X509Certificate(authority.cert);

    expect(cert.verify(ca.publicKey)).toBe(true);
    expect(cert.checkIssued(ca)).toBe(true);
    expect(ca.ca).toBe(true);
    expect(cert.ca).toBe(false);
    expect(cert.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(cert.checkHost('a.example')).toBe('a.example');
    expect(cert.checkHost('b.example')).toBeUndefined();
    expect(cert.subject).toBe('O=one\nO=two\nCN=server');
    expect(createPublicKey(pair.key).export({ type: 'spki', format: 'der' })).toEqual(
      cert.publicKey.export({ type: 'spki', format: 'der' }),
    );
  });

  it('goes on as the same authority when its two files are loaded', () => {
    const authority = Authority.create();
    const pair = Authority.load(authority).issue({ commonName: 'later' });

    expect(new X509Certificate(pair.cert).checkIssued(new X509Certificate(authority.cert))).toBe(true);
  });

  it('is never mistaken for another one', () => {
    const cert = new X509Certificate(Authority.create().issue({ commonName: 'x' }).cert);

    expect(cert.checkIssued(new X509Certificate(Authority.create().cert))).toBe(false);
  });

  it('issues certificates that have expired, for tests of that', () => {
    const notAfter = new Date('2020-01-02T03:04:05Z');
    const pair = Authority.create().issue({ commonName: 'old', notBefore: new Date('2019-01-01'), notAfter });

    expect(new X509Certificate(pair.cert).validTo).toBe('Jan  2 03:04:05 2020 GMT');
  });
});

describe('DER', () => {
  it.each([
    ['1.2.840.10045.4.3.2', '06082a8648ce3d040302'],
    ['2.5.29.19', '0603551d13'],
  ])('encodes the object identifier %s', (dotted, hex) => {
    expect(oid(dotted).toString('hex')).toBe(hex);
  });

  it.each([
    [0x7f, '307f'],
    [0x80, '308180'],
    [0x1234, '30821234'],
  ])('encodes a length of %i bytes', (length, head) => {
    expect(sequence(Buffer.alloc(length)).toString('hex').startsWith(head)).toBe(true);
  });
});
