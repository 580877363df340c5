import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Secret } from '../../api/kubernetes/core.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { applyIfChanged, covers } from './apply.ts';
import type { KubeClient } from './client.ts';

describe('covers', () => {
  it.each<[string, unknown, unknown, boolean]>([
    ['the same', { a: 1, b: [1, 2] }, { a: 1, b: [1, 2] }, true],
    ['more than wanted', { a: 1, b: 2 }, { a: 1 }, true],
    ['less than wanted', { a: 1 }, { a: 1, b: 2 }, false],
    ['another value', { a: { b: 1 } }, { a: { b: 2 } }, false],
    ['defaults inside a list', { l: [{ name: 'x', protocol: 'TCP' }] }, { l: [{ name: 'x' }] }, true],
    ['a longer list', { l: [1, 2] }, { l: [1] }, false],
    ['another order', { l: [1, 2] }, { l: [2, 1] }, false],
    ['a list that is to be empty', { l: [1] }, { l: [] }, false],
    ['an empty list that was dropped', {}, { l: [] }, true],
    ['an empty mapping', { labels: { a: 'b' } }, { labels: {} }, true],
    ['undefined', { a: 1 }, { b: undefined }, true],
    ['false that is not there', {}, { b: false }, false],
    ['a text for a mapping', { a: 'x' }, { a: { b: 1 } }, false],
  ])('%s', (_name, current, wanted, expected) => {
    expect(covers(current, wanted)).toBe(expected);
  });

  it('holds for any JSON and itself, and for what has more fields', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (value, extra) => {
        expect(covers(value, structuredClone(value))).toBe(true);
        expect(covers({ 'not in it': extra, ...value }, value)).toBe(true);
      }),
    );
  });
});

describe('applyIfChanged', () => {
  const secret = (fields: Partial<Secret>): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'n' },
    ...fields,
  });
  const applied: Secret[] = [];
  const client = {
    apply: (_type: unknown, object: Secret) => {
      applied.push(object);
      return Promise.resolve(object);
    },
  } as unknown as KubeClient;

  it('sends nothing when every wanted field is there, texts of Secrets included', async () => {
    const current = secret({ data: { a: 'aGVsbG8=' }, type: 'Opaque' });
    const wanted = secret({ stringData: { a: 'hello' } });
    expect(await applyIfChanged(client, Secrets, wanted, current, 'm')).toBe(current);
    expect(applied).toEqual([]);
  });

  it('applies what differs and what is not there', async () => {
    const wanted = secret({ stringData: { a: 'other' } });
    await applyIfChanged(client, Secrets, wanted, secret({ data: { a: 'aGVsbG8=' } }), 'm');
    await applyIfChanged(client, Secrets, wanted, undefined, 'm');
    expect(applied).toEqual([wanted, wanted]);
  });
});
