import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import {
  agentBundleName,
  agentClusterRoleName,
  autoClusterName,
  bundleNameForPath,
  clusterNamespace,
  contentBindingName,
  contentName,
  credentialReaderName,
  deploymentId,
  helmReleaseName,
  importCredentialsName,
  importTokenName,
  keyHash,
  manifestJSON,
  objectSetHash,
  randomToken,
  registrationNamespace,
  registrationSecretName,
  requestServiceAccountName,
  safeConcat,
  serviceAccountTokenName,
  statusHash,
  tokenRoleBindingName,
  tokenRoleName,
  tokenServiceAccountName,
  valuesHash,
} from './names.ts';

const a = (count: number): string => 'a'.repeat(count);

describe('published examples of the Fleet wire', () => {
  it.each([
    [[a(64)], `${a(57)}-ffe05`],
    [[`${a(56)}-aaaaaaa`], `${a(56)}-768c62`],
    [[a(63)], a(63)],
    [['x', '', 'y'], 'x--y'],
  ])('when %j are joined, then the name is %s', (parts, expected) => {
    expect(safeConcat(...parts)).toBe(expected);
  });

  it('when a cluster namespace is named, then it carries the hash of its key', () => {
    expect(clusterNamespace('fleet-local', 'local')).toBe('cluster-fleet-local-local-1a3d67d0a899');
    expect(clusterNamespace('fleet-default', 'cluster-8')).toBe('cluster-fleet-default-cluster-8-2a1fe93aeebd');
  });

  it('when a Cluster is made for a clientID, then its name is the hash of it', () => {
    expect(autoClusterName('really-random')).toBe('cluster-08f9d8eb5b7d');
  });

  it('when a request is answered, then the Secret is named by clientID and clientRandom', () => {
    expect(registrationSecretName('client-id', 'client-random')).toBe(
      'c-222d6c019b327c4b7c528277adc10867eed5f69c9c8d80141d055f3d85353',
    );
  });

  it('when a token has rights, then their names are cut and hashed one by one', () => {
    const account = tokenServiceAccountName({
      name: 'import-token-mycluster',
      uid: '11111111-2222-3333-4444-555555555555',
    });
    const base = 'import-token-mycluster-11111111-2222-3333-4444-5555555555';
    expect(account).toBe('import-token-mycluster-11111111-2222-3333-4444-555555555555');
    expect(tokenRoleName(account)).toBe(`${base}-6bf12`);
    expect(tokenRoleBindingName(account)).toBe(`${base}-a02ba`);
    expect(importCredentialsName(account)).toBe(`${base}-40d0c`);
  });

  it('when a manifest is stored, then the Content is named by its exact bytes', () => {
    const json = manifestJSON([{ name: 'foo', content: 'bar', encoding: '' }]);
    expect(json).toBe('{"resources":[{"name":"foo","content":"bar"}]}\n');
    expect(contentName(json)).toBe('s-b538e5004002a3ba4700d90b52d258f575e288e584c03e0e301f2032e937f');
    expect(contentName(Buffer.from(json))).toBe(contentName(json));
  });

  it.each([
    ['bundle.name.example.com', 'bundle-name-example-com-645ef821'],
    ['long-name-test-0.App_ ', 'long-name-test-0-app-5bf6b3fb'],
    ['plain', 'plain'],
    ['repo/path/to', 'repo-path-to'],
  ])('when %j becomes a release name, then it is %s', (text, expected) => {
    expect(helmReleaseName(text)).toBe(expected);
  });

  it('when objects are applied as the set of an import, then its label value is known', () => {
    expect(objectSetHash({ id: 'fleet-agent-bootstrap' })).toBe('f399d0b310fbfb28e9667312fdc7a33954e2b8c8');
  });

  it.each([
    ['cattle-fleet-system', 'cattle-fleet-clusters-system'],
    ['fleet-system', 'fleet-clusters-system'],
    ['fleet', 'fleet-clusters-system'],
    ['a-system-b-system', 'a-clusters-system-b-clusters-system'],
  ])('when the system namespace is %s, then requests are answered in %s', (system, expected) => {
    expect(registrationNamespace(system)).toBe(expected);
  });

  it('when the remaining objects are named, then their parts are joined', () => {
    expect(importTokenName('east')).toBe('import-token-east');
    expect(requestServiceAccountName({ name: 'request-abcde', uid: 'u-1' })).toBe('request-abcde-u-1');
    expect(contentBindingName('request-abcde')).toBe('request-abcde-content');
    expect(credentialReaderName('request-abcde')).toBe('request-abcde-creds');
    expect(serviceAccountTokenName('request-abcde-u-1')).toBe('request-abcde-u-1-token');
    expect(agentBundleName('east')).toBe('fleet-agent-east');
    expect(agentClusterRoleName('cattle-fleet-system')).toBe('cattle-fleet-system-fleet-agent-role');
    expect(bundleNameForPath('repo', './apps//web')).toBe('repo-apps-web');
    expect(bundleNameForPath('repo', '')).toBe('repo');
  });
});

describe('hashes', () => {
  it('given a text over 100 bytes, when it is hashed as a key, then only the first 100 count', () => {
    expect(keyHash(`${a(100)}x`)).toBe(keyHash(`${a(100)}y`));
    expect(keyHash(`${a(99)}x`)).not.toBe(keyHash(`${a(99)}y`));
    expect(keyHash(`${'ü'.repeat(50)}x`)).toBe(keyHash('ü'.repeat(50)));
  });

  it('given a CA, when status remembers it, then the hash is over its base64 text', () => {
    const ca = Buffer.from('-----BEGIN CERTIFICATE-----');
    const expected = createHash('sha224')
      .update(JSON.stringify(ca.toString('base64')))
      .digest('hex');
    expect(statusHash(ca)).toBe(expected);
    expect(statusHash(undefined)).toBe(createHash('sha224').update('null').digest('hex'));
    expect(statusHash({ b: 1, a: 2 })).toBe(statusHash({ a: 2, b: 1 }));
  });

  it('given options, when only diff and correctDrift differ, then the deployment is the same', () => {
    const options = { defaultNamespace: 'x', helm: { values: { b: 1, a: '<' } } };
    const id = deploymentId('s-1', options);
    expect(id).toMatch(/^s-1:[0-9a-f]{64}$/);
    expect(deploymentId('s-1', { ...options, correctDrift: { enabled: true }, diff: {} })).toBe(id);
    expect(deploymentId('s-1', { helm: { values: { a: '<', b: 1 } }, defaultNamespace: 'x' })).toBe(id);
    expect(deploymentId('s-1', { ...options, serviceAccount: 'x' })).not.toBe(id);
    const json = '{"defaultNamespace":"x","helm":{"values":{"a":"\\u003c","b":1}}}\n';
    expect(id.slice(4)).toBe(createHash('sha256').update(json).digest('hex'));
  });

  it('when values are hashed, then it is over both parts in a row', () => {
    expect(valuesHash('ab', 'c')).toBe(createHash('sha256').update('abc').digest('hex'));
    expect(valuesHash(Buffer.from('a'), 'bc')).toBe(valuesHash('ab', 'c'));
  });
});

describe('properties', () => {
  const part = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,70}[a-z0-9])?$/);

  it('any joined name is short, and unchanged when it already was', () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const name = safeConcat(...parts);
        const full = parts.join('-');
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
        if (full.length < 64) expect(name).toBe(full);
        else expect(name).toMatch(/-[0-9a-f]{5,6}$/);
      }),
    );
  });

  it('any two different long names stay different', () => {
    fc.assert(
      fc.property(part, part, (x, y) => {
        fc.pre(x !== y);
        expect(safeConcat(a(60), x)).not.toBe(safeConcat(a(60), y));
      }),
    );
  });

  it('any text becomes a valid release name, always the same, and a valid one is kept', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 90 }), (text) => {
        const name = helmReleaseName(text);
        expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
        expect(name.length).toBeLessThanOrEqual(53);
        expect(helmReleaseName(name)).toBe(name.replace(/-+/g, '-'));
      }),
    );
  });

  it('any content has a name of 63 characters', () => {
    fc.assert(fc.property(fc.string(), (text) => contentName(text).length === 63));
  });

  it('random tokens have the asked length, the alphabet, and differ', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 80 }), (length) => randomToken(length).length === length));
    expect(randomToken()).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{54}$/);
    expect(randomToken()).not.toBe(randomToken());
  });
});
