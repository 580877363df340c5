import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDnsLabel } from '../api/kubernetes/names.ts';
import { autoName, completeMetadata, isAutoName } from './names.ts';
import { unknownValue } from './unknowns.ts';

describe('autoName', () => {
  test('is a label of Kubernetes whatever the resource is called, and is recognised', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (name) => {
        const made = autoName(name);
        expect(isDnsLabel(made)).toBe(true);
        expect(isAutoName(made, name)).toBe(true);
      }),
    );
  });

  test('is another one each time', () => {
    expect(autoName('east')).not.toBe(autoName('east'));
    expect(isAutoName('east', 'east')).toBe(false);
  });
});

describe('completeMetadata', () => {
  test('keeps the name of the run before, and a given one in any case', () => {
    const olds = { metadata: { name: 'east-12345678', namespace: 'a' } };
    expect(completeMetadata(olds, { resourceName: 'east' }, 'a')).toEqual(olds.metadata);
    const news = { resourceName: 'east', metadata: { name: 'mine', namespace: 'b' } };
    expect(completeMetadata(olds, news, 'a')).toEqual(news.metadata);
  });

  test('fills nothing in where it may turn out to be there', () => {
    expect(completeMetadata(undefined, { metadata: unknownValue }, 'a')).toBe(unknownValue);
    const named = { metadata: { name: unknownValue } };
    expect(completeMetadata(undefined, named, 'a')).toEqual({ name: unknownValue, namespace: 'a' });
  });
});
