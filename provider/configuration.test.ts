import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hubOf, kubeconfigText, readConfiguration } from './configuration.ts';

const nothing = (): undefined => undefined;

describe('configuration', () => {
  test('is read from the stack first and from the environment second', () => {
    const env = { MUSTER_HUB_KUBECONFIG: 'from env', MUSTER_HUB_CONTEXT: 'c' };
    expect(readConfiguration(nothing, {})).toEqual({});
    expect(readConfiguration(nothing, env)).toEqual({ hub: { kubeconfig: 'from env', context: 'c' } });
    const stack = (key: string) => (key === 'muster:hubKubeconfig' ? 'from stack' : undefined);
    expect(readConfiguration(stack, { MUSTER_HUB_KUBECONFIG: 'x' })).toEqual({ hub: { kubeconfig: 'from stack' } });
  });

  test('gives way to the hub of a resource, and its absence is one readable error (T17)', () => {
    const own = { kubeconfig: 'own' };
    expect(hubOf({ hub: own }, { hub: { kubeconfig: 'other' } })).toBe(own);
    expect(() => hubOf({}, {})).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        hint: expect.stringContaining('muster:hubKubeconfig') as string,
      }),
    );
  });
});

describe('kubeconfigText', () => {
  test('reads a file that is named, and takes everything else as the text itself', () => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-'));
    const file = join(folder, 'config');
    writeFileSync(file, 'apiVersion: v1\n');
    expect(kubeconfigText(file)).toBe('apiVersion: v1\n');
    expect(kubeconfigText(join(folder, 'none'))).toBe(join(folder, 'none'));
    expect(kubeconfigText('apiVersion: v1\nkind: Config\n')).toBe('apiVersion: v1\nkind: Config\n');
    rmSync(folder, { recursive: true });
  });
});
