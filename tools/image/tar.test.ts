import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exec } from '../exec.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-tar-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('tarHeader', () => {
  it('is understood by tar', async () => {
    const content = Buffer.from('#!/bin/sh\necho hello\n');
    const path = join(folder, 'x.tar');
    await writeFile(
      path,
      Buffer.concat([
        tarHeader({ name: 'tmp/', type: 'folder', mode: 0o1777 }),
        tarHeader({ name: 'bin/hello', type: 'file', mode: 0o755, size: content.length }),
        content,
        tarPadding(content.length),
        tarHeader({ name: 'bin/hi', type: 'link', mode: 0o777, link: 'hello' }),
        tarEnd,
      ]),
    );
    const { stdout } = await exec('tar', ['-tvf', path, '--numeric-owner', '--full-time', '--utc']);
    expect(stdout.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      'drwxrwxrwt 0/0 0 1970-01-01 00:00:00 tmp/',
      '-rwxr-xr-x 0/0 21 1970-01-01 00:00:00 bin/hello',
      'lrwxrwxrwx 0/0 0 1970-01-01 00:00:00 bin/hi -> hello',
      '',
    ]);
  });

  it('refuses a name that has no room', () => {
    expect(() => tarHeader({ name: 'x'.repeat(101), type: 'file', mode: 0o644 })).toThrow(/too long/);
  });
});

describe('tarPadding', () => {
  it.each([
    [0, 0],
    [1, 511],
    [512, 0],
    [513, 511],
  ])('of %i bytes is %i', (size, padding) => {
    expect(tarPadding(size)).toHaveLength(padding);
  });
});
