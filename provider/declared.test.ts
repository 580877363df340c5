import { expect, test } from 'vitest';
import { declaredPart } from './declared.ts';

test('what others added is left out, what they changed or removed is not', () => {
  const declared = { mode: 'Agent', labels: { set: { a: '1', b: '2' } }, name: 'x' };
  const found = { mode: 'Manager', labels: { set: { a: '1', c: '3' }, pass: ['d'] }, workspace: 'w' };
  expect(declaredPart(declared, found)).toEqual({ mode: 'Manager', labels: { set: { a: '1' } } });
});

test('lists, and members that are one value, are taken as they are', () => {
  const declared = { selector: { matchLabels: { a: '1' } }, pass: ['a'] };
  const found = { selector: { matchLabels: { a: '1', b: '2' } }, pass: ['a', 'b'] };
  expect(declaredPart(declared, found, ['selector'])).toEqual(found);
});

test('nothing is found where nothing is', () => {
  expect(declaredPart({ a: { b: 1 } }, { a: null })).toEqual({});
  expect(declaredPart(undefined, undefined)).toBeUndefined();
});
