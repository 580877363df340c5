/**
 * Ports and loopback addresses that no two runs on a machine use at once. A claim is a file made exclusively in a folder
 * shared by all runs, removed with the run that made it. Ports come from below the
 * range that the system hands out for outgoing connections, and are tried before use, since other programs make no claims.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { MusterError } from '../../../api/errors.ts';
import { currentRun, runsDir } from './run.ts';

/** Something claimed for this run until it is released. */
export interface Claim<T> {
  readonly value: T;
  release(): void;
}

/** Linux hands out 32768 and up, macOS 49152 and up; Kubernetes' well-known ports are below or far above these. */
const firstPort = 20_000;
const portCount = 9_000;

/** A free port on 127.0.0.1. */
export async function claimPort(): Promise<Claim<number>> {
  const start = Math.floor(Math.random() * portCount);
  for (let i = 0; i < portCount; i++) {
    const port = firstPort + ((start + i) % portCount);
    const claim = await tryClaim(`port-${port}`, port);
    if (claim === undefined) continue;
    if (await canListen(port, '127.0.0.1')) return claim;
    claim.release();
  }
  throw new MusterError('INTERNAL', 'no free port on 127.0.0.1', { hint: 'End test runs that are still up.' });
}

/** An address 127.x.y.z that is nobody else's node (Linux: all of 127/8 is loopback). Every port given is free on it. */
export async function claimAddress(ports: readonly number[]): Promise<Claim<string>> {
  for (let i = 0; i < 1_000; i++) {
    const byte = (): number => 1 + Math.floor(Math.random() * 253);
    const address = `127.${byte()}.${byte()}.${byte()}`;
    const claim = await tryClaim(`address-${address}`, address);
    if (claim === undefined) continue;
    const free = await Promise.all(ports.map((port) => canListen(port, address)));
    if (free.every(Boolean)) return claim;
    claim.release();
  }
  throw new MusterError('INTERNAL', 'no free loopback address', { hint: 'A node needs 127.0.0.0/8 on the loopback.' });
}

async function tryClaim<T>(name: string, value: T): Promise<Claim<T> | undefined> {
  const run = await currentRun();
  const dir = join(runsDir(), 'claims');
  mkdirSync(dir, { recursive: true });
  const file = join(dir, name);
  try {
    writeFileSync(file, run.dir, { flag: 'wx' });
  } catch {
    return undefined; // somebody else's
  }
  const forget = run.register('file', [file]);
  const release = (): void => {
    rmSync(file, { force: true });
    forget();
  };
  return { value, release };
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
