/**
 * What strangers can hand to muster, 100,000 of them: whatever the text, the reader answers or says why not with one of
 * its own errors, and repeats nothing that could be a secret.
 */
import fc from 'fast-check';
import { stringify } from 'yaml';
import { describe, expect, it, vi } from 'vitest';
import { MusterError } from '../../api/errors.ts';
import { formatGoDuration, parseGoDuration } from '../../api/duration.ts';
import { parseAgentConfig } from '../../api/fleet/agent-config.ts';
import type { BootstrapValues } from '../../api/fleet/bootstrap-values.ts';
import { formatValues, parseValues } from '../../api/fleet/bootstrap-values.ts';
import { parseHubConfig } from '../../api/fleet/hub-config.ts';
import {
  autoClusterName,
  clusterNamespace,
  helmReleaseName,
  keyHash,
  registrationSecretName,
  requestServiceAccountName,
  safeConcat,
} from '../../api/fleet/names.ts';
import { checkName, isDnsLabel, isDnsSubdomain } from '../../api/kubernetes/names.ts';
import { checkLabels, edgeConfigLabels, isLabelKey, isLabelValue, registrationLabels } from '../../api/labels.ts';
import { labelValue } from '../../runtime/agent/fleet/label-value.ts';
import { parseKubeconfig } from '../../runtime/kube/kubeconfig.ts';

/** Inputs of each group; together 100,000. */
const inputs = { kubeconfigs: 10_000, values: 20_000, labels: 25_000, durations: 25_000, names: 20_000 } as const;

/** The result, or the reason of the refusal; anything else that is thrown fails the test. */
function answerOf<T>(read: () => T): { value: T } | { reason: string } {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    expect(error.message.length).toBeGreaterThan(3);
    expect(error.code).not.toBe('INTERNAL');
    return { reason: error.describe() };
  }
}

const secret = 'hunter2-hunter2-hunter2';
/** Texts of every kind: empty, long, with control characters, of other scripts, and what parsers trip over. */
const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\u{FEFF}',
    '__proto__',
    'constructor',
    'null',
    '~',
    '{',
    '- ',
    '&a [*a]',
    '!!binary x',
  ),
);
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.double());
const anything = fc.oneof(scalar, fc.jsonValue({ maxDepth: 2 }));

describe('kubeconfigs', () => {
  const field = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: anything });
  const server = field(
    fc.constantFrom('https://a:6443', 'http://a', 'https://', 'ftp://x', 'https://u:p@h', 'https://[::1]:1'),
  );
  const pem = Buffer.from('-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n').toString('base64');
  const cluster = fc.record(
    {
      server,
      'certificate-authority-data': field(fc.constantFrom(pem, 'bm8=', '%%%')),
      'certificate-authority': field(fc.constant('/etc/passwd')),
      'insecure-skip-tls-verify': field(fc.boolean()),
      'tls-server-name': field(text),
      'proxy-url': field(fc.constantFrom('http://proxy:1', 'socks5://x')),
    },
    { requiredKeys: ['server'] },
  );
  const user = fc.record(
    {
      token: field(fc.constant(secret)),
      tokenFile: field(fc.constant('/etc/passwd')),
      username: field(text),
      password: field(fc.constant(secret)),
      exec: field(fc.record({ command: text, args: fc.array(text, { maxLength: 2 }) })),
      'auth-provider': field(fc.record({ name: text })),
      'client-certificate-data': field(fc.constant(pem)),
      'client-key': field(fc.constant('/etc/passwd')),
    },
    { requiredKeys: [] },
  );
  const named = (key: string, value: fc.Arbitrary<unknown>) =>
    field(fc.array(fc.record({ name: field(fc.constant('a')), [key]: field(value) }), { maxLength: 2 }));
  const document = fc
    .record(
      {
        apiVersion: field(fc.constant('v1')),
        kind: field(fc.constant('Config')),
        'current-context': field(fc.constant('a')),
        clusters: named('cluster', cluster),
        users: named('user', user),
        contexts: named('context', fc.record({ cluster: field(fc.constant('a')), user: field(fc.constant('a')) })),
      },
      { requiredKeys: ['clusters', 'users', 'contexts', 'current-context'] },
    )
    .map((value) => stringify(value));
  /** One that is good but for at most one field. */
  const good = fc
    .tuple(
      fc.record({ server: fc.constant('https://a:6443') }),
      fc.record({ token: fc.constant(secret) }),
      fc.option(cluster, { freq: 1 }),
      fc.option(user, { freq: 1 }),
    )
    .map(([base, identity, otherCluster, otherUser]) =>
      stringify({
        'current-context': 'a',
        clusters: [{ name: 'a', cluster: otherCluster ?? base }],
        users: [{ name: 'a', user: otherUser ?? identity }],
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      }),
    );

  it('given anything, when a hub reads it, then nothing local is run or read and no secret is repeated', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof({ weight: 3, arbitrary: document }, { weight: 3, arbitrary: good }, text), (content) => {
        const answer = answerOf(() => parseKubeconfig(content, { policy: 'hub' }));
        if ('reason' in answer) {
          expect(answer.reason).not.toContain(secret);
          return;
        }
        accepted++;
        const { server: address, exec, tokenFile, insecureSkipTlsVerify } = answer.value;
        expect(new URL(address).protocol).toBe('https:');
        expect([exec, tokenFile]).toEqual([undefined, undefined]);
        expect(insecureSkipTlsVerify).not.toBe(true);
        expect(JSON.stringify(answer.value)).not.toContain('root:');
      }),
      { numRuns: inputs.kubeconfigs },
    );
    // else the generator would test refusals only
    expect(accepted).toBeGreaterThan(50);
  });
});

describe('values and configurations', () => {
  const values = fc.record({
    clusterNamespace: fc.constantFrom('fleet-default', 'team-a'),
    apiServerURL: fc.constantFrom('https://hub:6443', 'https://10.0.0.1'),
    apiServerCA: fc.constantFrom('', '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'),
    token: fc
      .string({ minLength: 1, maxLength: 30, unit: 'grapheme-ascii' })
      .filter((token) => token.trim() === token && token !== ''),
    tokenName: fc.constantFrom('tok', 'import-token-a'),
    systemRegistrationNamespace: fc.constant('cattle-fleet-clusters-system'),
  });

  it('given any values, when written and read again, then they are the same', () => {
    fc.assert(
      fc.property(values, (wanted: BootstrapValues) => {
        expect(parseValues(formatValues(wanted))).toMatchObject({ ...wanted });
      }),
      { numRuns: inputs.values * 0.25 },
    );
  });

  it('given anything as values, when read, then it is values or a refusal that repeats no token', () => {
    const broken = fc.dictionary(
      fc.constantFrom('clusterNamespace', 'apiServerURL', 'apiServerCA', 'tokenName', 'internal', 'other'),
      anything,
    );
    const content = fc.oneof(
      text,
      broken.map((value) => stringify({ ...value, token: secret })),
      text.map((tail) => `token: ${secret}\n${tail}`),
    );
    fc.assert(
      fc.property(content, (yaml) => {
        const answer = answerOf(() => parseValues(yaml));
        if ('reason' in answer) expect(answer.reason).not.toContain(secret);
      }),
      { numRuns: inputs.values * 0.25 },
    );
  });

  it('given anything as configuration, when read, then it is a configuration with warnings, or a refusal', () => {
    const keys = [
      'apiServerURL',
      'agentCheckinInterval',
      'agentTLSMode',
      'labels',
      'clientID',
      'bootstrap',
      'imagePullSecrets',
    ];
    const json = fc.oneof(
      text,
      fc.dictionary(fc.oneof(fc.constantFrom(...keys), text), anything).map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(json, (content) => {
        for (const read of [parseHubConfig, parseAgentConfig]) {
          const answer = answerOf(() => read(content));
          if ('value' in answer) for (const warning of answer.value.warnings) expect(warning).not.toBe('');
        }
      }),
      { numRuns: inputs.values * 0.5 },
    );
  });
});

describe('labels', () => {
  const key = fc.oneof(
    text,
    fc.constantFrom(
      'env',
      'fleet.cattle.io/x',
      'management.cattle.io/cluster-display-name',
      'a/b/c',
      '/x',
      'kubectl.kubernetes.io/a',
    ),
  );
  it('given any labels of an edge, when taken over, then only valid ones are left and none that is reserved', () => {
    fc.assert(
      fc.property(fc.dictionary(key, text), fc.boolean(), (labels, ignore) => {
        const taken = registrationLabels(labels, { ignore });
        for (const [name, value] of Object.entries(taken)) {
          expect(isLabelKey(name) && isLabelValue(value)).toBe(true);
          expect(
            name === 'fleet.cattle.io/created-by-agent-pod' || !/^(management|fleet)\.cattle\.io\//.test(name),
          ).toBe(true);
        }
        for (const name of Object.keys(edgeConfigLabels(labels))) expect(name).not.toContain('cattle.io');
        answerOf(() => checkLabels(labels));
      }),
      { numRuns: inputs.labels - 5000 },
    );
  });
  it('given any text, when made a label value, then it is one', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(isLabelValue(labelValue(value))).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('durations', () => {
  const unit = fc.constantFrom('ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'd', '');
  const written = fc
    .array(fc.tuple(fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e6, noNaN: true })), unit), { maxLength: 4 })
    .map((parts) => parts.map(([count, name]) => `${count}${name}`).join(''));
  it('given any text, when read, then it is a number of milliseconds or a refusal', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          written,
          written.map((each) => `-${each}`),
        ),
        (duration) => {
          const answer = answerOf(() => parseGoDuration(duration));
          if ('value' in answer) expect(Number.isFinite(answer.value)).toBe(true);
        },
      ),
      { numRuns: inputs.durations - 5000 },
    );
  });
  it('given any time, when written and read again, then it is the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 * 365 * 86_400_000 }), (ms) => {
        expect(parseGoDuration(formatGoDuration(ms))).toBe(ms);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('names', () => {
  const plain = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?$/);
  it('given any clientID, when names are made of it, then they are names that the API server takes', () => {
    fc.assert(
      fc.property(text, text, (clientID, random) => {
        expect(keyHash(clientID)).toMatch(/^[0-9a-f]{12}$/);
        expect(isDnsLabel(autoClusterName(clientID))).toBe(true);
        expect(registrationSecretName(clientID, random)).toMatch(/^c-[0-9a-f]{61}$/);
        expect(helmReleaseName(clientID)).toMatch(/^[a-z0-9]([a-z0-9-]{0,51}[a-z0-9])?$/);
      }),
      { numRuns: 7000 },
    );
  });
  it('given valid names of any length, when put together, then the result is valid and of one cluster only', () => {
    fc.assert(
      fc.property(plain, plain, plain, fc.uuid(), (namespace, name, other, uid) => {
        expect(isDnsLabel(clusterNamespace(namespace, name))).toBe(true);
        expect(safeConcat(namespace, name, other).length).toBeLessThan(64);
        expect(isDnsSubdomain(requestServiceAccountName({ name, uid }))).toBe(true);
        if (name !== other) expect(clusterNamespace(namespace, name)).not.toBe(clusterNamespace(namespace, other));
      }),
      { numRuns: 6000 },
    );
  });
  it('given any text as a name, when checked, then it is taken or refused with a reason', () => {
    fc.assert(
      fc.property(fc.oneof(text, plain), (name) => {
        const answer = answerOf(() => checkName(name, 'name'));
        expect('value' in answer).toBe(isDnsLabel(name));
      }),
      { numRuns: 7000 },
    );
  });
});

describe('what a reader writes to the console', () => {
  it('given values that the YAML parser warns about, when read, then it prints nothing: the line may hold the token', () => {
    // found by this fuzzing: the parser prints the line and the one before it
    const warned: unknown[] = [];
    const spy = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void warned.push(warning));
    answerOf(() => parseValues(`token: ${secret}\n!Vkq|s/(`));
    answerOf(() => parseKubeconfig(`token: ${secret}\n!Vkq|s/(`, { policy: 'hub' }));
    spy.mockRestore();
    expect(warned).toEqual([]);
  });
});
