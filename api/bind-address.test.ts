import { expect, test } from 'vitest';
import { isLoopback, parseBindAddress } from './bind-address.ts';

test.each([
  [':8081', { port: 8081 }],
  ['0.0.0.0:80', { port: 80 }],
  ['[::]:80', { port: 80 }],
  ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
  ['[::1]:8081', { host: '::1', port: 8081 }],
  ['0', undefined],
  ['', undefined],
])('given %j, when it is read, then it is %j', (text, expected) => {
  expect(parseBindAddress(text, 'env X')).toEqual(expected);
});

test.each(['8081', 'localhost', ':port', ':65536', '::1:80', ':123456'])(
  'given %j, when it is read, then the error names where it stood',
  (text) => {
    expect(() => parseBindAddress(text, 'env X')).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', where: 'env X' }) as Error,
    );
  },
);

test('given an address, when asked, then loopback is told from others', () => {
  expect(['127.0.0.7', '::1', 'localhost'].map((host) => isLoopback({ host, port: 1 }))).toEqual([true, true, true]);
  expect([isLoopback({ port: 1 }), isLoopback({ host: '10.0.0.1', port: 1 })]).toEqual([false, false]);
});
