import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { bootstrapSecretData, formatValues, parseValues, readBootstrapSecret } from './bootstrap-values.ts';
import type { BootstrapValues } from './bootstrap-values.ts';

const values: BootstrapValues = {
  clusterNamespace: 'fleet-default',
  apiServerURL: 'https://hub.example:6443',
  apiServerCA: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  token: 'header.payload.signature',
  tokenName: 'edge',
  systemRegistrationNamespace: 'cattle-fleet-clusters-system',
};

const secret = (data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'cattle-fleet-system', name: 'fleet-agent-bootstrap' },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});

describe('formatValues and parseValues', () => {
  it('given values, when they are written, then people can read them and they come back', () => {
    const text = formatValues(values);
    expect(text).toContain('clusterNamespace: fleet-default\n');
    expect(text).toContain('apiServerCA: |\n  -----BEGIN CERTIFICATE-----\n');
    expect(text).not.toContain('internal');
    expect(parseValues(text)).toEqual(values);
    expect(formatValues(parseValues(text))).toBe(text);
  });

  it('given another system namespace, when they are written, then the chart is told by internal.systemNamespace', () => {
    const moved = { ...values, systemNamespace: 'fleet' };
    expect(formatValues(moved)).toContain('internal:\n  systemNamespace: fleet\n');
    expect(parseValues(formatValues(moved))).toEqual(moved);
    expect(formatValues({ ...values, systemNamespace: 'cattle-fleet-system' })).toBe(formatValues(values));
  });

  it.each(['on', 'no', 'y', '012', '1_000', '12:30', '1e3', 'null', '~', '0x1f', '2026-01-31'])(
    'given a token called %s, when it is written, then helm, which reads YAML 1.1, finds a text as well',
    (tokenName) => {
      const text = formatValues({ ...values, tokenName });
      expect(parse(text, { version: '1.1' })).toMatchObject({ tokenName });
      expect(parseValues(text).tokenName).toBe(tokenName);
    },
  );

  it('any texts come back unchanged', () => {
    const text = fc.string({ unit: 'grapheme-ascii', minLength: 1 }).filter((value) => value.trim() === value);
    fc.assert(
      fc.property(text, text, fc.string({ unit: 'binary' }), (token, tokenName, apiServerCA) => {
        const given = { ...values, token, tokenName, apiServerCA };
        expect(parseValues(formatValues(given))).toEqual(given);
      }),
    );
  });

  it('given values of a hub before 0.16, when they are read, then the token name is empty', () => {
    const { tokenName: _, ...old } = values;
    expect(parseValues(JSON.stringify(old)).tokenName).toBe('');
  });

  it.each([
    ['token: [', 'not YAML'],
    ['just text', 'not a YAML object'],
    ['', 'not a YAML object'],
    ['token: 5\nclusterNamespace: x', 'missing or not a text: apiServerURL, systemRegistrationNamespace, token'],
  ])('given %j, when it is read, then the error says what is wrong', (text, message) => {
    expect(() => parseValues(text)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringContaining(message) }),
    );
  });

  it('given broken YAML with a token, when it is read, then no error text has the token', () => {
    let text = '';
    try {
      parseValues('token: "s3cr3t\n  : x');
    } catch (error) {
      text = `${String(error)} ${JSON.stringify(error)} ${String((error as Error).cause)}`;
    }
    expect(text).toContain('not YAML');
    expect(text).not.toContain('s3cr3t');
  });
});

describe('readBootstrapSecret', () => {
  it('given flat keys, when the Secret is read, then it has the values', () => {
    expect(readBootstrapSecret({ ...secret({}), data: bootstrapSecretData(values) })).toEqual(values);
  });

  it('given the one key of a helm values file, when the Secret is read, then it has the values', () => {
    expect(readBootstrapSecret(secret({ values: formatValues(values) }))).toEqual(values);
  });

  it('given a Secret without a token, when it is read, then Secret and keys are named', () => {
    expect(() => readBootstrapSecret(secret({ apiServerURL: 'https://hub' }))).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        where: 'Secret cattle-fleet-system/fleet-agent-bootstrap',
        message: 'missing or not a text: clusterNamespace, systemRegistrationNamespace, token',
      }),
    );
  });
});
