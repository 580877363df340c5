import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane, poll } from '../../test/harness/index.ts';
import { isApiError } from '../../runtime/kube/api-error.ts';
import { binary } from '../../test/harness/binaries.ts';
import type { StructuralSchema } from '../crd.ts';
import { objectSchema, toCustomResourceDefinition } from '../crd.ts';
import { isDnsSubdomain } from '../kubernetes/names.ts';
import type { CustomResourceDefinition } from '../kubernetes/workloads.ts';
import { CustomResourceDefinitions } from '../kubernetes/workloads.ts';
import { isLabelKey, isLabelValue } from '../labels.ts';
import type { KubeObject, ResourceType } from '../resource.ts';
import { apiVersion } from './constants.ts';
import { fleetDescriptors } from './index.ts';
import type { Cluster } from './kinds.ts';
import { ClusterRegistrationTokens, Clusters } from './kinds.ts';
import { maximalObjects } from './testdata/index.ts';

const namespace = 'default';
let plane: ControlPlane;
let client: KubeClient;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'api-crds', controllerManager: false });
  client = plane.client();
  for (const descriptor of fleetDescriptors) {
    await client.apply(CustomResourceDefinitions, toCustomResourceDefinition(descriptor), { fieldManager: 'test' });
  }
  await poll(
    async () => {
      const { items } = await client.list(CustomResourceDefinitions);
      const established = items.filter((crd) => conditionOf(crd, 'Established') === 'True');
      return established.length >= fleetDescriptors.length ? true : undefined;
    },
    { what: 'all CRDs to be established' },
  );
});

afterAll(async () => {
  await client?.close();
  await plane?.close();
});

function conditionOf(crd: CustomResourceDefinition, type: string): string | undefined {
  return crd.status?.conditions?.find((condition) => condition.type === type)?.status;
}

/** Status is a resource of its own: what `create` is given of it is dropped. */
async function store(type: ResourceType, object: KubeObject): Promise<KubeObject> {
  const wanted = { ...object, metadata: { ...object.metadata, ...(type.namespaced ? { namespace } : {}) } };
  const created = await client.create(type, wanted);
  if (!('status' in object)) return created;
  const { resourceVersion } = created.metadata;
  return client.replace(
    type,
    { ...wanted, metadata: { ...wanted.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) } },
    { subresource: 'status' },
  );
}

const body = ({ metadata: _, ...rest }: KubeObject): object => rest;

/** A value that has null wherever the schema lets it be, as Go programs write what they leave empty. */
function withNulls(schema: StructuralSchema): unknown {
  if (schema.nullable) return null;
  if (schema.items) return [withNulls(schema.items)];
  if (schema.additionalProperties) return { key: withNulls(schema.additionalProperties) };
  if (schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, value]) => [name, withNulls(value)]));
  }
  if (schema.enum) return schema.enum[0];
  if (schema.format === 'date-time') return '2026-01-31T12:00:00Z';
  return { string: '5m', integer: 5, number: 5, boolean: true, object: {}, array: [] }[schema.type ?? 'string'];
}

describe.each(fleetDescriptors.map((descriptor) => [descriptor.kind, descriptor] as const))(
  'a real API server and the kind %s',
  (kind, descriptor) => {
    const type: ResourceType = descriptor;

    it('accepts the definition and finds nothing wrong with it', async () => {
      const crd = await client.get(CustomResourceDefinitions, { name: `${type.plural}.${type.group}` });
      expect(conditionOf(crd, 'NamesAccepted')).toBe('True');
      expect(conditionOf(crd, 'NonStructuralSchema')).toBeUndefined();
    });

    it('keeps every field of the maximal object', async () => {
      const object = maximalObjects.find((candidate) => candidate.kind === kind);
      if (object === undefined) throw new Error(`no maximal object of ${kind}`);
      await store(type, object);
      const read = await client.get(type, {
        name: object.metadata.name ?? '',
        ...(type.namespaced ? { namespace } : {}),
      });
      expect(body(read)).toEqual(body(object));
    });

    it('keeps null wherever the wire may carry it', async () => {
      const { apiVersion: _, kind: __, metadata: ___, ...fields } = objectSchema(descriptor).properties ?? {};
      const values = withNulls({ type: 'object', properties: fields }) as object;
      const object = { apiVersion, kind, metadata: { name: 'nulls' }, ...values };
      expect(body(await store(type, object))).toEqual(body(object));
    });
  },
);

describe('what a real API server refuses', () => {
  const token = (ttl: unknown): KubeObject =>
    ({
      apiVersion,
      kind: 'ClusterRegistrationToken',
      metadata: { generateName: 'ttl-', namespace },
      spec: { ttl },
    }) as KubeObject;

  it.each([
    ['1d', 'must be a Go duration such as 90s, 15m or 1h30m'],
    ['-1h', 'must be a Go duration'],
    ['2562048h', 'must be a Go duration'],
    ['', 'at least 1 chars'],
    ['1h'.repeat(17), 'Too long'],
    [5, 'must be of type string'],
  ])('given the ttl %j, then the answer says %s', async (ttl, message) => {
    await expect(client.create(ClusterRegistrationTokens as ResourceType, token(ttl))).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(message),
    });
  });

  it.each(['0', '12h', '1h30m', '1.5s', '2562047h', null])('given the ttl %j, then it is taken', async (ttl) => {
    const made = await client.create(ClusterRegistrationTokens as ResourceType, token(ttl));
    expect((made as unknown as { spec: unknown }).spec).toEqual(ttl === null ? { ttl: null } : { ttl });
  });

  it.each<[string, object, string]>([
    ['Cluster', { agentEnvVars: [{ value: 'x' }] }, 'spec.agentEnvVars[0].name: Required value'],
    ['Cluster', { agentResources: { limits: { cpu: 'many' } } }, 'spec.agentResources.limits.cpu'],
    ['Cluster', { agentTolerations: 'all' }, 'must be of type array'],
    ['GitRepo', {}, 'spec.repo: Required value'],
    ['GitRepo', { repo: 'x', pollingInterval: 'often' }, 'must be a Go duration'],
    ['Bundle', { targetCustomizationMode: 'Some' }, 'supported values: "FirstMatch", "AllMatches"'],
    ['Bundle', { helm: { releaseName: 'Not_Valid' } }, 'spec.helm.releaseName'],
    ['Bundle', { rolloutStrategy: { maxUnavailable: true } }, 'maxUnavailable'],
  ])('given a %s with %j, then the answer says %s', async (kind, spec, message) => {
    const type: ResourceType | undefined = fleetDescriptors.find((descriptor) => descriptor.kind === kind);
    if (type === undefined) throw new Error(kind);
    const object = { apiVersion, kind, metadata: { generateName: 'bad-', namespace }, spec } as KubeObject;
    await expect(client.create(type, object)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(message),
    });
  });
});

describe('names and labels', () => {
  /** Whether the server would take a ConfigMap of that name with these labels. */
  async function serverTakes(name: string, labels: Record<string, string>): Promise<boolean> {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels } };
    try {
      // By POST: in the path of a URL, a name with a slash would be another address.
      await client.raw(`/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, { method: 'POST', body: object });
      return true;
    } catch (error) {
      if (isApiError(error) && error.status === 422) return false;
      throw error;
    }
  }

  const texts = ['a', 'A', '9', 'a-b', 'a_b', 'a.b', '-a', 'a-', '.a', 'a.', 'a b', 'ü', 'a/b', 'B.c/d', 'b.c/', '/a'];
  const long = [63, 64, 253, 254].map((length) => 'x'.repeat(length));

  it.each([...texts, 'a/b/c', 'a..b', 'a..b/c', `${'x'.repeat(253)}/a`, `${'x'.repeat(254)}/a`, ...long])(
    'given %s, when it is a name, a label key or a label value, then the server judges as we do',
    async (text) => {
      expect(await serverTakes(text, {}), 'name').toBe(isDnsSubdomain(text));
      expect(await serverTakes('x', { [text]: '' }), 'key').toBe(isLabelKey(text));
      expect(await serverTakes('x', { key: text }), 'value').toBe(isLabelValue(text));
    },
  );
});

describe('a registered cluster on a real API server', () => {
  const key = { namespace, name: 'seen' };

  it('given the heartbeats of old and new agents, then both are stored', async () => {
    await client.create(Clusters, { apiVersion, kind: 'Cluster', metadata: key, spec: { clientID: 'x' } });
    await client.patch(Clusters, key, { status: { namespace: 'cluster-x' } }, { type: 'merge', subresource: 'status' });
    const heartbeat = [
      { op: 'add', path: '/status/agent', value: { lastSeen: '2026-01-31T12:00:00Z', namespace: 'agents' } },
    ];
    const seen = await client.patch(Clusters, key, heartbeat, { type: 'json', subresource: 'status' });
    expect(seen.status).toEqual({ namespace: 'cluster-x', agent: heartbeat[0]?.value });
    // Agents up to 0.12 send their whole status with zero values.
    const zeroed = {
      status: {
        agent: { lastSeen: '2026-01-31T12:05:00Z', namespace: 'agents' },
        display: {},
        resourceCounts: { ready: 0 },
      },
    };
    const merged = await client.patch<Cluster>(Clusters, key, zeroed, { type: 'merge', subresource: 'status' });
    expect(merged.status?.agent?.lastSeen).toBe('2026-01-31T12:05:00Z');
    expect(merged.status?.namespace).toBe('cluster-x');
  });

  it('when it is listed by kubectl, then the columns of Fleet are there and Last-Seen is an age', async () => {
    const lastSeen = new Date(Date.now() - 125_000).toISOString();
    const status = {
      agent: { lastSeen },
      display: { readyBundles: '1/1', state: 'Ready' },
      conditions: [{ type: 'Ready', status: 'True', message: '' }],
    };
    await client.patch(Clusters, key, { status }, { type: 'merge', subresource: 'status' });
    const { stdout } = await promisify(execFile)(await binary('kubectl'), [
      `--kubeconfig=${plane.kubeconfigPath}`,
      ...['get', 'fcl', 'seen', '-o', 'wide'],
    ]);
    const [header = '', row = ''] = stdout.split('\n');
    expect(header.trim().split(/\s{2,}/)).toEqual([
      'NAME',
      'READY',
      'BUNDLES-READY',
      'LAST-SEEN',
      'STATUS',
      'STATE',
      'VERSION',
      'NODES',
      'CLUSTER-NAMESPACE',
      'AGE',
    ]);
    expect(row).toMatch(/^seen\s+True\s+1\/1\s+2m\d*s?\s+Ready\s+cluster-x\s+\d+s/);
  });

  it('when the category is listed, then registration kinds are found in one command', async () => {
    const { stdout } = await promisify(execFile)(await binary('kubectl'), [
      `--kubeconfig=${plane.kubeconfigPath}`,
      ...['get', 'fleet', '-o', 'name'],
    ]);
    expect(stdout).toContain('cluster.fleet.cattle.io/seen\n');
    expect(stdout).toContain('clusterregistration.fleet.cattle.io/maximal\n');
    expect(stdout).not.toContain('content.fleet.cattle.io');
  });
});
