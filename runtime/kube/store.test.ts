import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConfigMap } from '../../api/kubernetes/core.ts';
import { keyOf } from '../../api/resource.ts';
import { Store } from './store.ts';

const object = (namespace: string, name: string, values: string[]): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(namespace === '' ? {} : { namespace }) },
  data: { values: values.join(',') },
});

const valuesOf = (item: ConfigMap): string[] => (item.data?.['values'] ?? '').split(',');

describe('a store', () => {
  it('answers every question as a plain map would, after any changes', () => {
    const change = fc.record({
      remove: fc.boolean(),
      namespace: fc.constantFrom('', 'x', 'y'),
      name: fc.constantFrom('a', 'b', 'c'),
      values: fc.array(fc.constantFrom('red', 'blue', 'green'), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), fc.nat(40), (changes, indexAfter) => {
        const store = new Store<ConfigMap>();
        const model = new Map<string, ConfigMap>();
        changes.forEach(({ remove, namespace, name, values }, turn) => {
          if (turn === indexAfter) store.addIndexers({ value: valuesOf });
          const item = object(namespace, name, values);
          const before = model.get(keyOf(item));
          if (remove) {
            expect(store.delete(keyOf(item))).toBe(before);
            model.delete(keyOf(item));
          } else {
            expect(store.set(item)).toBe(before);
            model.set(keyOf(item), item);
          }
        });
        store.addIndexers({ value: valuesOf });
        const all = [...model.values()];
        expect(store.size).toBe(model.size);
        expect(new Set(store.list())).toEqual(new Set(all));
        expect(new Set(store.keys())).toEqual(new Set(model.keys()));
        expect(new Set(store.list('x'))).toEqual(new Set(all.filter(({ metadata }) => metadata.namespace === 'x')));
        for (const value of ['red', 'blue', 'green', '']) {
          const wanted = all.filter((item) => valuesOf(item).includes(value));
          expect(new Set(store.byIndex('value', value))).toEqual(new Set(wanted));
        }
      }),
    );
  });
});
