import { describe, expect, it } from 'vitest';
import { answerChecks, parseBindAddress, serve } from './health.ts';

describe('a bind address', () => {
  it.each([
    [':8081', { port: 8081 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['localhost:9', { host: 'localhost', port: 9 }],
    ['0', undefined],
    ['', undefined],
  ])('%s', (address, expected) => {
    expect(parseBindAddress(address)).toEqual(expected);
  });

  it.each(['8081', ':x', ':70000', '::1:80', 'a:b:c'])('%s is refused', (address) => {
    expect(() => parseBindAddress(address)).toThrow('must be HOST:PORT, :PORT, or 0 to disable');
  });
});

describe('health checks', () => {
  it('name what is not well', async () => {
    const checks = new Map([
      ['good', (): void => undefined],
      ['bad', (): Promise<void> => Promise.reject(new Error('it hurts'))],
    ]);
    expect(await answerChecks(checks)).toEqual({ status: 500, body: '[+]good ok\n[-]bad failed: it hurts\nnot ok\n' });
  });

  it('are served to GET and HEAD only, and a broken route tells nothing', async () => {
    const endpoint = await serve('127.0.0.1:0', {
      '/ok': () => Promise.resolve({ status: 200, body: 'fine' }),
      '/broken': () => Promise.reject(new Error('secret detail')),
    });
    const ask = async (path: string, method = 'GET'): Promise<string> => {
      const response = await fetch(`http://${endpoint?.address}${path}`, { method });
      return `${response.status} ${await response.text()}`;
    };
    expect(await ask('/ok?verbose=true')).toBe('200 fine');
    expect(await ask('/ok', 'HEAD')).toBe('200 ');
    expect(await ask('/ok', 'POST')).toBe('404 not found\n');
    expect(await ask('/toString')).toBe('404 not found\n');
    expect(await ask('/broken')).toBe('500 internal error\n');
    await endpoint?.close();
  });
});
