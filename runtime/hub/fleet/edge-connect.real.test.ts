import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlane } from '../../../test/harness/index.ts';
import type { ClientConfig } from '../../kube/client-config.ts';
import type { EdgeClients } from './edge-clients.ts';
import { createEdgeClients } from './edge-clients.ts';
import { connectEdge } from './edge-connect.ts';

const wrong = rootCertificates[0] ?? '';
const signal = new AbortController().signal;
const before = process.env['SSL_CERT_FILE'];
let plane: ControlPlane;
let edges: EdgeClients;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'edge' });
  edges = createEdgeClients('test');
});
afterEach(() => systemTrusts(undefined));
afterAll(async () => {
  await edges?.close();
  await plane?.close();
});

/** Plays an operating system that trusts this certificate and no other; `undefined`: the real one. */
function systemTrusts(certificate: string | undefined): void {
  if (certificate === undefined) {
    if (before === undefined) delete process.env['SSL_CERT_FILE'];
    else process.env['SSL_CERT_FILE'] = before;
    return;
  }
  const file = join(plane.dir, 'system.pem');
  writeFileSync(file, certificate);
  process.env['SSL_CERT_FILE'] = file;
}

function connect(mode: string, ca: string | undefined) {
  const config: ClientConfig = {
    server: plane.server,
    token: plane.adminToken,
    contextName: 'x',
    ...(ca ? { ca } : {}),
  };
  return connectEdge(edges, config, mode, signal);
}

describe('agentTLSMode (fleet PR#2507, fleet#3806)', () => {
  it('given system-store and a server that the system trusts, then a CA that does not fit is dropped', async () => {
    systemTrusts(plane.ca);
    await expect(connect('system-store', wrong)).resolves.toMatchObject({
      facts: { uid: expect.any(String) as unknown },
    });
    await expect(connect('', undefined)).resolves.toBeDefined();
  });

  it('given strict and a server that the system trusts, then a CA that does not fit is the end, and none, too', async () => {
    systemTrusts(plane.ca);
    await expect(connect('strict', wrong)).rejects.toMatchObject({ reason: 'ClusterUntrusted' });
    await expect(connect('strict', undefined)).rejects.toMatchObject({ reason: 'ClusterUntrusted', final: true });
    await expect(connect('strict', plane.ca)).resolves.toBeDefined();
  });

  it('given a server that the system does not trust, then its CA is needed', async () => {
    systemTrusts(wrong);
    await expect(connect('system-store', plane.ca)).resolves.toBeDefined();
    await expect(connect('system-store', wrong)).rejects.toMatchObject({ reason: 'ClusterUntrusted' });
    await expect(connect('system-store', undefined)).rejects.toMatchObject({ reason: 'ClusterUntrusted' });
  });
});
