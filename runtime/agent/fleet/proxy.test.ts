import { describe, expect, it } from 'vitest';
import { proxyFor } from './proxy.ts';

const through = (server: string, noProxy = ''): string | undefined =>
  proxyFor(server, { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: noProxy });

describe('proxyFor', () => {
  it('given no HTTPS_PROXY, then there is no proxy', () => {
    expect(proxyFor('https://hub.example', {})).toBeUndefined();
    expect(proxyFor('https://hub.example', { HTTPS_PROXY: '' })).toBeUndefined();
  });

  it('given HTTPS_PROXY in either case, with or without scheme, then it is used', () => {
    expect(through('https://hub.example')).toBe('http://proxy:3128');
    expect(proxyFor('https://hub.example', { https_proxy: 'proxy:3128' })).toBe('http://proxy:3128');
  });

  it.each([
    ['https://hub.example', '*'],
    ['https://hub.example', 'example'],
    ['https://hub.example', '.example'],
    ['https://hub.example', '*.example'],
    ['https://HUB.example', ' other, hub.example '],
    ['https://hub.example:6443', 'hub.example:6443'],
    ['https://10.43.0.1:443', '10.43.0.0/16'],
    ['https://10.43.0.1:443', '10.43.0.1'],
    ['https://[fd00::1]', 'fd00::/8'],
    ['https://127.0.0.1:6443', ''],
    ['https://localhost:6443', ''],
    ['https://[::1]:6443', ''],
  ])('given %s with NO_PROXY %j, then the connection is direct', (server, noProxy) => {
    expect(through(server, noProxy)).toBeUndefined();
  });

  it.each([
    ['https://hub.example', 'ample'],
    ['https://example', '.example'],
    ['https://hub.example:6443', 'hub.example:443'],
    ['https://10.44.0.1', '10.43.0.0/16'],
    ['https://10.43.0.1', '10.43.0.0/99'],
    ['https://hub.example', '10.0.0.0/8'],
    ['https://hub.example', ',,'],
  ])('given %s with NO_PROXY %j, then the proxy is used', (server, noProxy) => {
    expect(through(server, noProxy)).toBe('http://proxy:3128');
  });
});
