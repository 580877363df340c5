import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { requireNode } from './node-version.ts';

describe('the version of Node.js (T20)', () => {
  it.each(['v22.18.0', 'v22.19.1', 'v24.0.0', 'v26.1.0'])('takes %s', (version) => {
    expect(() => requireNode(version)).not.toThrow();
  });

  it.each(['v18.20.0', 'v20.20.2', 'v22.17.9'])('refuses %s in words', (version) => {
    expect(() => requireNode(version)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
    expect(() => requireNode(version)).toThrow(`Node.js ${version} is too old`);
  });

  it('asks for what package.json asks for', () => {
    const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      engines: { node: string };
    };
    const asked = engines.node.replace('>=', '');
    expect(() => requireNode(`v${asked}.0`)).not.toThrow();
    expect(() => requireNode(`v${asked.replace(/\d+$/, (minor) => String(Number(minor) - 1))}.0`)).toThrow();
  });
});
