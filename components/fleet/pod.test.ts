import { describe, expect, test } from 'vitest';
import { mergeEnv } from './pod.ts';

const own = [
  { name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
  { name: 'AGENT_SCOPE', value: '' },
];

describe('given environment variables of muster and of the user', () => {
  test('those of the user come after, sorted, each name once and the last one wins', () => {
    const given = [
      { name: 'NO_PROXY', value: 'a' },
      { name: 'HTTPS_PROXY', value: 'p' },
      { name: 'NO_PROXY', value: 'b' },
    ];
    expect(mergeEnv(own, given).slice(2)).toEqual([
      { name: 'HTTPS_PROXY', value: 'p' },
      { name: 'NO_PROXY', value: 'b' },
    ]);
  });

  test('the user may override one of muster, in its place', () => {
    expect(mergeEnv(own, [{ name: 'NAMESPACE', value: 'other' }])[0]).toEqual({ name: 'NAMESPACE', value: 'other' });
  });

  test('an empty value is left out, as Kubernetes does not store it', () => {
    expect(mergeEnv(own, [])[1]).toEqual({ name: 'AGENT_SCOPE' });
  });

  test('the order is kept where one variable refers to another', () => {
    const given = [
      { name: 'Z', value: '1' },
      { name: 'A', value: '$(Z)2' },
    ];
    expect(mergeEnv([], given).map(({ name }) => name)).toEqual(['Z', 'A']);
  });
});
