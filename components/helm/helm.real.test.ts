/** The charts on a real control plane, by the real helm: installed, upgraded, removed; the same objects as plain manifests. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { KubeObject, ObjectKey } from '../../api/resource.ts';
import { isNotFound } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { binary } from '../../test/harness/binaries.ts';
import { ControlPlane, currentRun } from '../../test/harness/index.ts';
import { meaning, sortedVariables, writeChart } from '../../test/support/helm-charts.ts';
import { resourceTypeOf, synthAgent, synthCrds, synthHub } from '../fleet/index.ts';
import type { AgentProps, HubProps } from '../fleet/index.ts';
import { agentChart, crdsChart, hubChart } from './index.ts';

const run = promisify(execFile);
const ca = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const hub: HubProps = {
  image: 'muster:test',
  config: { apiServerURL: 'https://hub.example.com', apiServerCA: ca, agentCheckinInterval: '5m' },
  envVars: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
  imagePullSecrets: ['pull'],
};
const agent: AgentProps = { image: 'muster:test', clientID: 'store-17', labels: { env: 'edge', zone: 'b' } };
const token = {
  apiServerURL: 'https://hub.example.com',
  apiServerCA: ca,
  clusterNamespace: 'fleet-default',
  systemRegistrationNamespace: 'cattle-fleet-clusters-system',
  token: 'bootstrap-token',
  tokenName: 'stores',
};

let plane: ControlPlane;
let admin: KubeClient;
let dir: string;

beforeAll(async () => {
  dir = (await currentRun()).makeDir('helm-charts');
  plane = await ControlPlane.start({ name: 'helm' });
  admin = plane.client();
});
afterAll(async () => {
  await admin?.close();
  await plane?.close();
});

function valuesFile(values: object): string {
  const file = join(dir, 'values.yaml');
  writeFileSync(file, stringify(values), { mode: 0o600 });
  return file;
}
async function helm(...args: string[]): Promise<string> {
  const env = { ...process.env, HOME: dir, KUBECONFIG: plane.kubeconfigPath };
  const { stdout } = await run(await binary('helm'), args, { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
const helmFails = async (...args: string[]): Promise<string> =>
  await helm(...args).then(
    () => '',
    (error: unknown) => (error as { stderr: string }).stderr,
  );
const keyFor = ({ metadata: { name = '', namespace } }: KubeObject): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name };
async function stored(object: KubeObject): Promise<KubeObject | undefined> {
  try {
    return await admin.get(resourceTypeOf(object), keyFor(object));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * What the API server makes of a manifest, asked without writing it, and under another name: what helm has written would be
 * merged with it otherwise. Definitions can have no other name, but no value changes them either.
 */
async function asStored(object: KubeObject): Promise<unknown> {
  const { name = '' } = object.metadata;
  const asked = object.kind === 'CustomResourceDefinition' ? name : `${name}-asked`;
  const renamed = { ...object, metadata: { ...object.metadata, name: asked } };
  const options = { fieldManager: 'plain', dryRun: true, force: true };
  const made = await admin.apply(resourceTypeOf(object), renamed, options);
  return meaning({ ...made, metadata: { ...made.metadata, name } });
}

async function expectSame(objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const what = `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;
    const found = await stored(object);
    expect(found, what).toBeDefined();
    if (found !== undefined)
      expect(sortedVariables(meaning(found)), what).toEqual(sortedVariables(await asStored(object)));
  }
}

describe('given the charts of a hub', () => {
  const system = 'cattle-fleet-system';
  const isReleaseNamespace = ({ kind, metadata }: KubeObject) => kind === 'Namespace' && metadata.name === system;
  const plain = (props: HubProps) => synthHub(props).filter((object) => !isReleaseNamespace(object));
  const release = ['muster-hub', '--namespace', system] as const;

  test('when installed, then the objects are those of the plain manifests', async () => {
    await helm(
      'install',
      'muster-crds',
      writeChart(join(dir, 'crds'), crdsChart(synthCrds())),
      '--namespace',
      system,
      '--create-namespace',
    );
    await helm('install', ...release.slice(0, 1), writeChart(join(dir, 'hub'), hubChart(hub)), ...release.slice(1));
    await expectSame([...synthCrds(), ...plain(hub)]);
  });

  test('when upgraded with other values, then they are those that the same props give', async () => {
    const values = {
      image: 'muster:next',
      imagePullPolicy: 'Never',
      imagePullSecrets: [],
      replicas: 2,
      // Helm merges what is an object with its default.
      resources: { limits: { memory: '256Mi' }, requests: null },
      tolerations: [{ key: 'infra', operator: 'Exists' }],
      env: {
        MUSTER_LOG_LEVEL: 'debug',
        POD_IP: { valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        HTTPS_PROXY: null,
      },
      apiServerURL: 'https://other.example.com',
      apiServerCA: '',
      workspaces: ['team-a'],
      config: { agentCheckinInterval: '1m', agentTLSMode: 'strict' },
    };
    await helm('upgrade', 'muster-hub', join(dir, 'hub'), '--namespace', system, '--values', valuesFile(values));
    await expectSame(
      plain({
        image: 'muster:next',
        imagePullPolicy: 'Never',
        replicas: 2,
        resources: { limits: values.resources.limits },
        tolerations: values.tolerations,
        envVars: [
          { name: 'MUSTER_LOG_LEVEL', value: 'debug' },
          { name: 'POD_IP', valueFrom: values.env.POD_IP.valueFrom },
        ],
        workspaces: ['team-a'],
        config: { apiServerURL: 'https://other.example.com', agentCheckinInterval: '1m', agentTLSMode: 'strict' },
      }),
    );
  });

  test('when a value cannot be followed by the manifests, then helm refuses it', async () => {
    const refuse = (...set: string[]) =>
      helmFails('upgrade', 'muster-hub', join(dir, 'hub'), '--namespace', system, ...set);
    expect(await refuse('--set', 'config.bootstrap.namespace=x')).toContain('give it to muster synth');
    expect(await refuse('--set', 'env.MUSTER_PROBE_BIND_ADDRESS=:1')).toContain('ports and probes');
    expect(await refuse('--set', 'replica=2')).toContain('replica');
  });

  test('when the charts are removed, then registrations could stay: definitions and workspaces do', async () => {
    await helm('uninstall', 'muster-hub', '--namespace', system);
    await helm('uninstall', 'muster-crds', '--namespace', system);
    const stays = ({ kind, metadata }: KubeObject) =>
      kind === 'CustomResourceDefinition' || (kind === 'Namespace' && metadata.name !== system);
    for (const object of [...synthCrds(), ...plain(hub)])
      expect((await stored(object)) !== undefined, `${object.kind} ${object.metadata.name ?? ''}`).toBe(stays(object));
  });
});

describe('given the chart of an agent', () => {
  const namespace = 'edge-system';
  const isLeftOut = ({ kind, metadata }: KubeObject) =>
    kind === 'Namespace' || (kind === 'ServiceAccount' && metadata.name === 'default');
  const plain = (props: AgentProps) => synthAgent(props).filter((object) => !isLeftOut(object));

  test('when installed with the values of a token, then the objects are those of the plain manifests', async () => {
    const chart = writeChart(join(dir, 'agent'), agentChart(agent));
    const values = valuesFile({ ...token, internal: { systemNamespace: namespace } });
    await helm('install', 'muster-agent', chart, '--namespace', namespace, '--create-namespace', '--values', values);
    await expectSame(plain({ ...agent, namespace, bootstrap: token }));
  });

  test('when several pods are to wait for one another, then they wait as those of plain manifests do', async () => {
    const values = { replicas: 2, clientID: '', labels: null, checkinInterval: '1m', lockDefaultAccount: true };
    const flags = ['--namespace', namespace, '--take-ownership', '--values', valuesFile(values)];
    await helm('upgrade', 'muster-agent', join(dir, 'agent'), ...flags);
    const props: AgentProps = { image: agent.image, namespace, replicas: 2, checkinInterval: '1m' };
    await expectSame(synthAgent(props).filter(({ kind }) => kind !== 'Namespace'));
    const [secret] = plain({ ...props, bootstrap: token }).filter(({ kind }) => kind === 'Secret');
    expect(secret && (await stored(secret))).toBeUndefined();
  });

  test('when the values are those of another namespace, or its name is too long, then helm says so', async () => {
    const render = (where: string, ...rest: string[]) =>
      helmFails('template', 'muster-agent', join(dir, 'agent'), '--namespace', where, ...rest);
    expect(await render('other', '--set', 'internal.systemNamespace=mine')).toContain('--namespace mine');
    expect(await render('a'.repeat(60))).toContain('characters at most');
  });

  test('when it is removed, then nothing of it is left', async () => {
    await helm('uninstall', 'muster-agent', '--namespace', namespace);
    for (const object of plain({ ...agent, namespace, bootstrap: token })) expect(await stored(object)).toBeUndefined();
  });
});
