import { describe, expect, it } from 'vitest';
import { certificatesOf, formatHubAddress, parseHubAddress, sameCertificates } from './hub-address.ts';

const [a, b] = ['QQ==', 'Qg=='].map((text) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----`);

describe('address of a hub', () => {
  it('given one, when written and read, then it is the same', () => {
    const address = { url: 'https://hub', ca: a ?? '', replaces: ['https://old'] };
    expect(parseHubAddress(formatHubAddress(address))).toEqual(address);
    expect(parseHubAddress('{"url":"https://hub/","ca":""}')).toEqual({ url: 'https://hub', ca: '' });
  });

  it.each([
    undefined,
    '',
    '{[',
    'null',
    '[]',
    '{"url":"http://hub","ca":""}',
    '{"url":"https://hub"}',
    '{"url":"https://hub","ca":"","replaces":[1]}',
  ])('given %j, then it is none', (text) => {
    expect(parseHubAddress(text)).toBeUndefined();
  });
});

describe('sets of certificates', () => {
  it('given them in another order, twice and with other space, then they are the same', () => {
    expect(sameCertificates(`${a}\n${b}`, `\n${b}\r\n${a}${a}`)).toBe(true);
    expect(sameCertificates(a, `${a}\n${b}`)).toBe(false);
    expect(sameCertificates(undefined, '')).toBe(true);
    expect(certificatesOf(`# a comment\n${a}`, `${a}`)).toEqual([a]);
  });
});
