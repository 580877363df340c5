import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { MusterError } from '../../../api/errors.ts';
import { decideTrust, systemRoots } from './trust.ts';

const server = 'https://hub.example';
const trusted = async (): Promise<void> => Promise.resolve();
const untrusted = async (): Promise<void> => Promise.reject(new MusterError('TLS_UNTRUSTED', 'unknown issuer'));
const unreachable = async (): Promise<void> => Promise.reject(new MusterError('UNREACHABLE', 'refused'));

describe('decideTrust', () => {
  it('given system-store and a publicly trusted hub, then the CA is left out', async () => {
    expect(await decideTrust({ server, ca: 'CA', mode: 'system-store' }, trusted)).toBeUndefined();
    expect(await decideTrust({ server, ca: '', mode: 'system-store' }, trusted)).toBeUndefined();
  });

  it('given system-store and a hub with a private CA, then that CA is used', async () => {
    expect(await decideTrust({ server, ca: 'CA', mode: 'system-store' }, untrusted)).toBe('CA');
  });

  it('given system-store, a private hub and no CA, then it fails as untrusted', async () => {
    await expect(decideTrust({ server, ca: ' ', mode: 'system-store' }, untrusted)).rejects.toMatchObject({
      code: 'TLS_UNTRUSTED',
    });
  });

  it('given system-store and a hub that cannot be reached, then nothing is decided', async () => {
    await expect(decideTrust({ server, ca: 'CA', mode: 'system-store' }, unreachable)).rejects.toMatchObject({
      code: 'UNREACHABLE',
    });
  });

  it.each(['strict', 'anything'])('given %s, then only the CA counts and nothing is probed', async (mode) => {
    const probe = vi.fn(trusted);
    expect(await decideTrust({ server, ca: 'CA', mode }, probe)).toBe('CA');
    await expect(decideTrust({ server, ca: '', mode }, probe)).rejects.toMatchObject({ reason: 'ConfigInvalid' });
    expect(probe).not.toHaveBeenCalled();
  });

  it('given no mode, then the CA is used when there is one, and nothing is probed', async () => {
    const probe = vi.fn(trusted);
    expect(await decideTrust({ server, ca: 'CA', mode: '' }, probe)).toBe('CA');
    expect(await decideTrust({ server, ca: '', mode: '' }, probe)).toBeUndefined();
    expect(probe).not.toHaveBeenCalled();
  });
});

describe('systemRoots', () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-roots-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const [first = '', second = ''] = rootCertificates;

  it('given this machine, then there are certificates', () => {
    expect(systemRoots({})).toContain('BEGIN CERTIFICATE');
  });

  it('given SSL_CERT_FILE and NODE_EXTRA_CA_CERTS, then those count', () => {
    const env = { SSL_CERT_FILE: file('a', first), NODE_EXTRA_CA_CERTS: file('b', second) };
    expect(systemRoots(env)).toBe(`${first}\n${second}`);
  });

  it('given a file without certificates, or none, then those of Node.js are taken', () => {
    expect(systemRoots({ SSL_CERT_FILE: file('empty', '') })).toContain(first);
    expect(systemRoots({ SSL_CERT_FILE: join(dir, 'missing') })).toContain(first);
  });
});
