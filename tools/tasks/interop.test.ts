import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseInterop } from './interop.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'interop-'));
  mkdirSync(join(dir, 'bin'));
  for (const name of ['controller', 'agent']) {
    writeFileSync(join(dir, 'bin', name), '');
    chmodSync(join(dir, 'bin', name), 0o755);
  }
});
afterEach(() => rmSync(dir, { recursive: true }));

const paths = ['--fleet-controller', 'bin/controller', '--fleet-agent', 'bin/agent'];

describe('parseInterop', () => {
  it.each([
    [[], '--fleet-controller is missing'],
    [paths.slice(0, 2), '--fleet-agent is missing'],
    [[...paths.slice(0, 3), 'bin/none'], '--fleet-agent: bin/none is not a program'],
    [[...paths.slice(0, 3), 'bin'], '--fleet-agent: bin is not a program'],
    [[...paths, '--fleet-charts', 'bin'], '--fleet-charts: bin has no charts'],
    [['--flux-controller', 'bin/controller'], '--flux-crds is missing'],
    [['--flux-controller', 'bin/controller', '--flux-crds', 'none'], '--flux-crds: none does not exist'],
    [['--flux-controller', 'bin/controller', '--flux-crds', 'bin', ...paths.slice(2)], '--fleet-controller is missing'],
  ])('says what is wrong with %j', (args, message) => {
    expect(() => parseInterop(args, dir)).toThrow(message);
  });

  it('takes paths from where the user is, and does without charts', () => {
    expect(parseInterop([...paths, 'takeover'], dir)).toEqual({
      fleet: { controller: join(dir, 'bin', 'controller'), agent: join(dir, 'bin', 'agent'), charts: undefined },
      filters: ['takeover'],
    });
  });

  it('needs nothing of Fleet for Flux alone', () => {
    expect(parseInterop(['--flux-controller', 'bin/controller', '--flux-crds', 'bin'], dir)).toEqual({
      flux: { controller: join(dir, 'bin', 'controller'), crds: [join(dir, 'bin')] },
      filters: [],
    });
  });

  it('finds the charts beside the programs', () => {
    for (const chart of ['fleet', 'fleet-agent']) mkdirSync(join(dir, 'charts', chart), { recursive: true });
    expect(parseInterop(paths, dir).fleet?.charts).toBe(join(dir, 'charts'));
  });
});
