import * as k8s from '@pulumi/kubernetes';
import { Output, output, secret } from '@pulumi/pulumi';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatValues } from '../../api/fleet/bootstrap-values.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { manifestKinds } from '../../components/fleet/index.ts';
import { agentMaker } from './agent-maker.ts';
import { hubMaker } from './hub-maker.ts';
import { typeToken } from './kubernetes-object.ts';
import { manifestsWithOutputs } from './manifests-with-outputs.ts';
import type { ManifestMaker } from './manifests-with-outputs.ts';

const certificate = '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n';
const values = formatValues({
  clusterNamespace: 'fleet-default',
  apiServerURL: 'https://hub.test:6443',
  apiServerCA: certificate,
  token: 'token-of-this-test',
  tokenName: 'stores',
  systemRegistrationNamespace: 'cattle-fleet-clusters-system',
});

/** Definitions depend on nothing, and are the most of it. */
const isSmall = ({ kind }: { kind: string }): boolean => kind !== 'CustomResourceDefinition';

/** Waits for every output inside; the SDK's own way makes an output of every member first. */
async function settled(value: unknown): Promise<unknown> {
  if (Output.isInstance(value)) return (value as unknown as { promise(): Promise<unknown> }).promise();
  if (Array.isArray(value)) return Promise.all(value.map(settled));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(async ([key, member]) => [key, await settled(member)] as const);
  return Object.fromEntries(await Promise.all(members));
}

/** What a preview has in the place of an output of a resource that is not there yet. */
function unknown(): Output<string> {
  const Internal = Output as unknown as new (...args: unknown[]) => Output<string>;
  const not = Promise.resolve(false);
  return new Internal(new Set(), Promise.resolve(undefined), not, not, Promise.resolve(new Set()));
}

const word = fc.stringMatching(/^[a-z]([a-z0-9]{0,8})$/);
const agentArgs = fc.record(
  {
    image: word.map((name) => `registry.test/${name}:1`),
    values: fc.constant(values),
    program: fc.constant('muster'),
    clientID: word,
    replicas: fc.integer({ min: 0, max: 3 }),
    redeploy: fc.integer({ min: 0, max: 9 }),
    checkinInterval: fc.constantFrom('1m', '15m'),
    labels: fc.dictionary(word, word, { maxKeys: 3 }),
    workers: fc.record({ drift: fc.constantFrom('5', '7') }, { requiredKeys: [] }),
    systemDefaultRegistry: fc.constant('registry.test'),
    agentSettings: fc.record(
      {
        privateRepoURL: word,
        envVars: fc.array(fc.record({ name: word, value: word }), { maxLength: 3 }),
        tolerations: fc.array(fc.record({ key: word }), { maxLength: 2 }),
        imagePullSecrets: fc.array(word, { maxLength: 2 }),
        resources: fc.constant({ limits: { cpu: '100m', memory: '64Mi' } }),
        schedulingCustomization: fc.constant({
          priorityClass: { value: 7 },
          podDisruptionBudget: { minAvailable: '1' },
        }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['image', 'program', 'clientID'] },
);
const hubArgs = fc.record(
  {
    image: word.map((name) => `registry.test/${name}:1`),
    namespace: fc.constant('cattle-fleet-system'),
    replicas: fc.integer({ min: 0, max: 3 }),
    envVars: fc.array(fc.record({ name: word, value: word }), { maxLength: 3 }),
    config: fc.record(
      {
        apiServerURL: word.map((name) => `https://${name}.test`),
        apiServerCA: fc.constant(certificate),
        agentCheckinInterval: fc.constantFrom('1m', '15m'),
        agentImage: word,
        bootstrap: fc.constant({ namespace: 'fleet-local', enabled: true }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['image', 'namespace', 'config'] },
);

/** The same with some of its texts and numbers as outputs; `pick` decides one after the other. */
function withOutputs(value: unknown, pick: () => boolean, plain: readonly string[], path = ''): unknown {
  if (plain.includes(path)) return value;
  if (Array.isArray(value)) return value.map((member, index) => withOutputs(member, pick, plain, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return pick() ? output(value) : value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      // Names of variables decide which of them there are.
      key === 'name' ? member : withOutputs(member, pick, plain, path === '' ? key : `${path}.${key}`),
    ]),
  );
}

describe.each([
  ['Agent', agentMaker as unknown as ManifestMaker<object>, agentArgs],
  ['Hub', hubMaker as unknown as ManifestMaker<object>, hubArgs],
] as const)('%s, with any of its values as outputs', (kind, maker, args) => {
  test('has the same manifests as with the values themselves', async () => {
    await fc.assert(
      fc.asyncProperty(args, fc.infiniteStream(fc.boolean()), async (given, picks) => {
        const pick = (): boolean => picks.next().value === true;
        const objects = manifestsWithOutputs(kind, withOutputs(given, pick, maker.plain) as object, maker);
        const known = await settled(objects.filter(isSmall).map(({ fields }) => fields));
        expect(JSON.parse(JSON.stringify(known))).toEqual(
          JSON.parse(JSON.stringify(maker.make(given).filter(isSmall))),
        );
      }),
      { numRuns: 15 },
    );
  });
});

const byKind = (objects: ReturnType<typeof manifestsWithOutputs>, kind: string) =>
  objects.find((object) => object.kind === kind)?.fields as Record<string, unknown>;

describe('a value that is not known yet', () => {
  test('leaves open what depends on it, and nothing else', async () => {
    const objects = manifestsWithOutputs('Agent', { image: unknown(), program: 'muster', clientID: 'c' }, agentMaker);
    const deployment = byKind(objects, 'Deployment') as { spec: { template: { spec: { containers: object[] } } } };
    const [container] = deployment.spec.template.spec.containers;
    const { image, ...rest } = container as { image: Output<string> };
    expect(await (image as unknown as { isKnown: Promise<boolean> }).isKnown).toBe(false);
    expect(JSON.stringify(rest)).toContain('CHECKIN_INTERVAL');
    expect(byKind(objects, 'ConfigMap')).toEqual(
      agentMaker.make({ image: 'x', clientID: 'c' }).find(({ kind }) => kind === 'ConfigMap'),
    );
  });
});

test('a secret makes secret what it is in, and nothing else', async () => {
  const objects = manifestsWithOutputs('Agent', { image: output('muster:1'), values: secret(values) }, agentMaker);
  const isSecret = async (value: unknown): Promise<boolean> =>
    (output(value) as unknown as { isSecret: Promise<boolean> }).isSecret;
  for (const { kind, fields } of objects) expect([kind, await isSecret(fields)]).toEqual([kind, kind === 'Secret']);
});

test.each([
  [
    { image: 'muster:1', agentSettings: { namespace: output('edge') } },
    /agentSettings\.namespace: decides which objects/,
  ],
  [{ image: 'muster:1', clientID: 7 }, /INVALID_ARGUMENT\] Agent x: clientID: /],
  [{ image: 'muster:1', values: 'token: t' }, /INVALID_ARGUMENT\] Agent x: values: /],
  [{ image: 'muster:1', nothing: true }, /nothing/],
])('arguments are refused with their name: case %#', (args, message) => {
  expect(() => manifestsWithOutputs('Agent x', args, agentMaker)).toThrow(message);
});

test('every kind has the type of the class of @pulumi/kubernetes', () => {
  const sdk = k8s as unknown as Record<string, Record<string, Record<string, { __pulumiType: string }>>>;
  const group = (name: string): string => {
    const word = name.split('.')[0] ?? '';
    return word === '' ? 'core' : word;
  };
  // Kinds of CustomResourceDefinitions have no class.
  const own = /cattle\.io$|muster\.dev$|x-k8s\.io$|external-secrets\.io$|bitnami\.com$/;
  for (const type of manifestKinds.filter(({ group: name }) => !own.test(name))) {
    const made = sdk[group(type.group)]?.[type.version]?.[type.kind]?.__pulumiType;
    expect(typeToken(apiVersionOf(type), type.kind)).toBe(made);
  }
});
