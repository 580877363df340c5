import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDnsLabel } from '../../../api/kubernetes/names.ts';
import { isLabelValue } from '../../../api/labels.ts';
import { groupName, safeName } from './group-name.ts';
import { fill, formatLoss, isLike, lossPolicy, parseLoss, registrationFor, targetOf } from './registration.ts';
import { aRule, aSource } from './testdata/sources.ts';

const target = { workspace: 'fleet-default', name: 'east' };

describe('where a rule wants a registration', () => {
  it('given a template, when filled, then it names name, namespace and class of the source', () => {
    const source = aSource('east', { class: { name: 'aws', namespace: 'classes' } });
    const rule = aRule('r', { registration: { workspace: 'fleet-default', name: '{class}-{namespace}-{name}' } });
    expect(targetOf(rule, source)).toEqual({ workspace: 'fleet-default', name: 'aws-team-a-east' });
    expect(targetOf(aRule('r'), source)).toEqual({ workspace: 'team-a', name: 'east' });
  });

  it('given a result that is no name, when wanted, then the fault says which rule and what to change', () => {
    const rule = aRule('r', { registration: { name: '{class}-{name}' } });
    expect(targetOf(rule, aSource('east'))).toMatchObject({ reason: 'InvalidName' });
    const fault = targetOf(rule, aSource('east')) as { message: string };
    expect(fault.message).toContain('rule r names it "-east"');
    expect(fault.message).toContain('spec.registration.name');
  });

  it('given any source and template, when wanted, then it is a name or a fault, never an error', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (name, namespace, template) => {
        const rule = aRule('r', { registration: { workspace: 'w', name: template } });
        const result = targetOf(rule, aSource('x', { name, namespace }));
        expect('reason' in result || isDnsLabel(result.name)).toBe(true);
      }),
    );
  });
});

describe('what passes from a source', () => {
  const source = aSource('east', {
    labels: { env: 'prod', 'topology.kubernetes.io/zone': 'a', 'fleet.cattle.io/managed': 'true', other: 'x' },
    annotations: {
      owner: 'me',
      'kubectl.kubernetes.io/last-applied-configuration': '{"data":"secret"}',
      'muster.dev/source': 'forged',
    },
    class: { name: 'aws', namespace: 'classes' },
    version: 'v1.34.1',
  });

  it('given patterns, when chosen, then only those keys pass, and none that steers a hub or repeats the source', () => {
    const rule = aRule('r', {
      registration: {
        labels: { pass: ['env', 'topology.*', 'fleet.*'], set: { class: '{class}', env: 'ours' } },
        annotations: { pass: ['*'], set: { 'muster.dev/source': 'forged', from: '{namespace}/{name}' } },
      },
    });
    expect(registrationFor(rule, source, target, undefined)).toMatchObject({
      labels: { env: 'ours', 'topology.kubernetes.io/zone': 'a', class: 'aws' },
      annotations: { owner: 'me', from: 'team-a/east' },
    });
    const { labels, annotations } = registrationFor(rule, source, target, undefined) as {
      labels: object;
      annotations: object;
    };
    expect(Object.keys(labels).sort()).toEqual(['class', 'env', 'topology.kubernetes.io/zone']);
    expect(Object.keys(annotations).sort()).toEqual(['from', 'owner']);
  });

  it('given a label that cannot be one, when set, then the fault names it', () => {
    const rule = aRule('r', { registration: { labels: { set: { place: 'not a label' } } } });
    expect(registrationFor(rule, source, target, undefined)).toMatchObject({
      reason: 'InvalidSpec',
      message: expect.stringContaining('spec.registration.labels.set["place"]') as string,
    });
  });

  it('given any pattern and key, when compared, then it is what the regular expression would say', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 8 });
    fc.assert(
      fc.property(text, text, (key, pattern) => {
        const plain = key.replaceAll('*', '');
        const expression = new RegExp(
          `^${pattern
            .split('*')
            .map((part) => part.replaceAll('.', '\\.'))
            .join('.*')}$`,
        );
        expect(isLike(plain, pattern)).toBe(expression.test(plain));
      }),
    );
  });

  it('given braces that are no placeholder, when filled, then they stay', () => {
    expect(fill('{"a":{name}}{other}', source)).toBe('{"a":east}{other}');
  });
});

describe('what happens when a source goes', () => {
  it('given nothing, when read, then it is detached at once and waits a minute at most', () => {
    expect(lossPolicy()).toEqual({ action: 'Detach', delayMs: 0, timeoutMs: 60_000 });
    expect(lossPolicy({ action: 'Keep', delay: '1h', timeout: '5s' })).toEqual({
      action: 'Keep',
      delayMs: 3_600_000,
      timeoutMs: 5000,
    });
  });

  it('given what a registration remembers, when read, then it is the same, and nonsense is the default', () => {
    const policy = { action: 'Keep', delayMs: 5, timeoutMs: 7 } as const;
    expect(parseLoss(formatLoss(policy))).toEqual(policy);
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(['Keep', 'Detach']).toContain(parseLoss(text).action);
      }),
    );
    expect(parseLoss('{"action":1,"delayMs":-4,"timeoutMs":"x"}')).toEqual(lossPolicy());
    expect(parseLoss('null')).toEqual(lossPolicy());
  });
});

describe('names of groups', () => {
  const built = { class: { name: 'aws', namespace: 'classes' }, version: 'v1.34.1' };
  it.each([
    ['Class', built, 'aws.classes'],
    ['Topology', built, 'aws.classes-v1.34.1'],
    ['None', built, undefined],
    ['Class', {}, undefined],
  ] as const)('given %s of %o, when named, then it is %s', (by, source, expected) => {
    expect(groupName(by, source)).toBe(expected);
  });

  it('given any text, when made a name, then it is a label value that two texts do not share', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), fc.string({ maxLength: 100 }), (a, b) => {
        expect(isLabelValue(safeName(a))).toBe(true);
        expect(safeName(a)).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
        if (a !== b) expect(safeName(a)).not.toBe(safeName(b));
      }),
    );
  });
});
