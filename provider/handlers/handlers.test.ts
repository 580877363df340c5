import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatValues } from '../../api/fleet/bootstrap-values.ts';
import { Clients } from '../clients.ts';
import type { CallContext, Props, ResourceHandler } from '../handler.ts';
import { plain } from '../outputs.ts';
import { unknownValue } from '../unknowns.ts';
import { agentRelease } from './agent-release.ts';
import { cluster } from './cluster.ts';
import { clusterGroup } from './cluster-group.ts';
import { clusterRegistrationToken } from './cluster-registration-token.ts';
import { hubRelease } from './hub-release.ts';
import { registrationRule } from './registration-rule.ts';

const kubeconfig = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'c',
  contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
  clusters: [{ name: 'k', cluster: { server: 'https://cluster.test:6443' } }],
  users: [{ name: 'u', user: { token: 't' } }],
});
const values = formatValues({
  clusterNamespace: 'fleet-default',
  apiServerURL: 'https://hub.test:6443',
  apiServerCA: '',
  token: 't',
  tokenName: 'n',
  systemRegistrationNamespace: 'cattle-fleet-clusters-system',
});

const word = fc.stringMatching(/^[a-z]([a-z0-9]{0,10})$/);
const labels = fc.dictionary(word, word, { maxKeys: 4 });
const metadata = fc.record({ name: word, namespace: word, labels, annotations: labels }, { requiredKeys: [] });
const timeouts = fc.record(
  { create: fc.constantFrom('1m', '90s'), delete: fc.constantFrom('5m', '1h30m') },
  { requiredKeys: [] },
);
const settings = fc.record(
  {
    namespace: word,
    imagePullSecrets: fc.array(word, { maxLength: 2 }),
    envVars: fc.array(fc.record({ name: word, value: fc.string() }), { maxLength: 3 }),
    tolerations: fc.array(fc.record({ key: word, operator: fc.constantFrom('Exists', 'Equal') }), { maxLength: 3 }),
    hostNetwork: fc.boolean(),
    affinity: fc.constant({ nodeAffinity: {} }),
    resources: fc.constant({ limits: { cpu: '100m', memory: '64Mi' } }),
  },
  { requiredKeys: [] },
);
const shared = { metadata, timeouts, awaitReady: fc.boolean() };

type AnyHandler = ResourceHandler<object, object>;
const cases: [string, AnyHandler, fc.Arbitrary<Props>, Props][] = [
  [
    'Cluster',
    cluster as AnyHandler,
    fc.record({ ...shared, agentSettings: settings, paused: fc.boolean(), clientID: word }, { requiredKeys: [] }),
    { uid: 'u', hubUID: '', clusterUID: '', namespace: 'n', conditions: [], agent: {}, ready: true },
  ],
  [
    'ClusterRegistrationToken',
    clusterRegistrationToken as AnyHandler,
    fc.record({ ...shared, ttl: fc.constantFrom('12h', '90s'), renew: fc.boolean() }, { requiredKeys: [] }),
    { uid: 'u', hubUID: '', expires: '', expired: false, secretName: 's', values },
  ],
  [
    'ClusterGroup',
    clusterGroup as AnyHandler,
    fc
      .record({ ...shared, selector: fc.record({ matchLabels: labels }, { requiredKeys: [] }) }, { requiredKeys: [] })
      .map((args) => ({ selector: {}, ...args })),
    { uid: 'u', hubUID: '', clusterCount: 0, readyClusterCount: 0, nonReadyClusterCount: 0, nonReadyClusters: [] },
  ],
  [
    'RegistrationRule',
    registrationRule as AnyHandler,
    fc
      .record(
        {
          timeouts,
          selector: fc.record({ matchLabels: labels }, { requiredKeys: [] }),
          suspend: fc.boolean(),
          priority: fc.integer({ min: -9, max: 9 }),
          registration: fc.record(
            { mode: fc.constantFrom('Manager', 'Agent'), workspace: word, agent: settings },
            { requiredKeys: [] },
          ),
          onSourceDeleted: fc.record({ delay: fc.constantFrom('0s', '1h') }, { requiredKeys: [] }),
        },
        { requiredKeys: [] },
      )
      .map((args) => ({ source: { clusterAPI: {} }, ...args })),
    { uid: 'u', hubUID: '', matched: 0, registered: 0, failed: 0, conditions: [] },
  ],
  [
    'AgentRelease',
    agentRelease as AnyHandler,
    fc
      .record(
        {
          timeouts,
          labels,
          agentSettings: settings,
          clientID: word,
          replicas: fc.integer({ min: 0, max: 9 }),
          program: fc.constantFrom('muster', 'fleet'),
          workers: fc.record({ drift: fc.constant('5') }, { requiredKeys: [] }),
          render: fc.constant(true),
        },
        { requiredKeys: [] },
      )
      .map((args) => ({ ...args, ...(args.render ? {} : { kubeconfig }), values, image: 'muster:1' })),
    { clusterUID: '', ready: true, objects: [], drift: [] },
  ],
  [
    'HubRelease',
    hubRelease as AnyHandler,
    fc
      .record(
        { timeouts, workspaces: fc.array(word, { maxLength: 3 }), hostNetwork: fc.boolean() },
        { requiredKeys: [] },
      )
      .map((args) => ({ ...args, image: 'muster:1', config: { apiServerURL: 'https://hub.test:6443' } })),
    { hubUID: '', ready: true, objects: [], drift: [] },
  ],
];

const context: CallContext = {
  signal: new AbortController().signal,
  configuration: {},
  clients: new Clients(),
  report: () => undefined,
};
const common = { resourceName: 'east', owner: 'demo/test' };
const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** What the state holds after a create with these inputs: inputs and outputs, over the wire. */
function stored(handler: AnyHandler, inputs: Props, outputs: Props): Props {
  const settings = inputs['agentSettings'] as { namespace?: string } | undefined;
  const namespace = handler.kind === 'AgentRelease' ? { namespace: settings?.namespace ?? 'cattle-fleet-system' } : {};
  return json(plain({ ...outputs, ...namespace, ...inputs, manifestHash: '' }));
}

describe.each(cases)('%s, for any inputs', (kind, handler, args, outputs) => {
  test('checking twice changes nothing (T2)', () => {
    fc.assert(
      fc.property(args, (given) => {
        const first = handler.check(undefined, { ...given, ...common, kind });
        expect(first.failures).toEqual([]);
        expect(json(handler.check(json(first.inputs), json(first.inputs)))).toEqual(json(first));
      }),
      { numRuns: 50 },
    );
  });

  test('what was created with them differs from them in nothing (T4)', async () => {
    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        const inputs = json(handler.check(undefined, { ...given, ...common, kind }).inputs);
        const state = stored(handler, inputs, outputs);
        const { changes, replaces } = await handler.diff('id', state, inputs, context);
        // The package's own manifests differ from the empty hash above: that is an upgrade, never a replacement.
        expect(replaces).toEqual([]);
        if (!kind.endsWith('Release')) expect(changes).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  test('anything of them may be unknown (T3)', async () => {
    await fc.assert(
      fc.asyncProperty(args, fc.nat(), async (given, pick) => {
        const keys = Object.keys(given);
        const key = keys[pick % Math.max(keys.length, 1)];
        const partly = key === undefined ? given : { ...given, [key]: unknownValue };
        const { inputs, failures } = handler.check(undefined, { ...partly, ...common, kind });
        expect(failures).toEqual([]);
        const known = json(handler.check(undefined, { ...given, ...common, kind }).inputs);
        await handler.diff('id', stored(handler, known, outputs), inputs, context);
      }),
      { numRuns: 50 },
    );
  });
});
