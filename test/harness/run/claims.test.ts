import { createServer } from 'node:net';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimAddress, claimPort } from './claims.ts';
import { openRegistry } from './clean.ts';
import { pidSpace, startOf } from './process-identity.ts';
import { currentRun, isDead, runsDir } from './run.ts';

const bound = (port: number) =>
  new Promise<() => Promise<void>>((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(() => new Promise((done) => server.close(() => done()))));
  });

describe('claims', () => {
  it('gives every caller a port of its own that can be listened on', async () => {
    const claims = await Promise.all(Array.from({ length: 50 }, () => claimPort()));

    expect(new Set(claims.map(({ value }) => value)).size).toBe(50);
    const close = await bound(claims[0]?.value ?? 0);
    await close();
    for (const claim of claims) claim.release();
  });

  it.runIf(process.platform === 'linux')('gives every node an address of its own', async () => {
    const claims = await Promise.all(Array.from({ length: 20 }, () => claimAddress([10250])));

    expect(new Set(claims.map(({ value }) => value)).size).toBe(20);
    for (const claim of claims) claim.release();
  });

  it('are gone with the run that made them', async () => {
    const claim = await claimPort();
    const file = join(runsDir(), 'claims', `port-${claim.value}`);
    const run = await currentRun();
    expect(readFileSync(file, 'utf8')).toBe(run.dir);
    const noted = readdirSync(join(run.dir, openRegistry)).map((name) =>
      readFileSync(join(run.dir, openRegistry, name), 'utf8'),
    );
    expect(noted).toContain(file); // what the reaper removes

    claim.release();

    expect(existsSync(file)).toBe(false);
  });
});

describe('a run', () => {
  it.each([
    ['its process is gone', { pid: 2 ** 22 + 1, started: '1' }, true],
    ['its number belongs to a later process', { pid: process.pid, started: '1' }, true],
    ['its process lives', { pid: process.pid, started: startOf(process.pid) }, false],
    ['it is of another machine or container', { pid: 2 ** 22 + 1, started: '1', space: 'elsewhere' }, false],
  ])('is judged when %s', (_, owner, dead) => {
    const dir = mkdtempSync(join(tmpdir(), 'muster-owner-'));
    writeFileSync(join(dir, 'owner.json'), JSON.stringify({ space: pidSpace(), ...owner }));

    expect(isDead(dir)).toBe(dead);
    rmSync(dir, { recursive: true });
  });
});
