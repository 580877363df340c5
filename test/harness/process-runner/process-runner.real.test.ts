import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ConfigMaps, Nodes, Pods, Secrets } from '../../../api/kubernetes/core.ts';
import type { Pod } from '../../../api/kubernetes/core.ts';
import { Deployments } from '../../../api/kubernetes/workloads.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { poll } from '../poll.ts';
import { claimPort } from '../run/claims.ts';
import { ProcessRunner } from './process-runner.ts';

// Real programs on shared cores: generous, since it ends a hang and decides nothing else.
vi.setConfig({ testTimeout: 120_000 });

const image = 'localhost/app:1';
const app = [process.execPath, '--no-warnings', fileURLToPath(new URL('fixtures/app.ts', import.meta.url))];

let plane: ControlPlane;
let runner: ProcessRunner;
let client: KubeClient;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'runner' });
  client = plane.client();
  const images = { [image]: { command: { app } } };
  runner = await ProcessRunner.start(plane, { images, backoff: { firstMs: 300, maxMs: 300 } });
  await plane.whenWorking();
});
afterAll(async () => {
  await runner.close();
  await client.close();
  await plane.close();
});

const namespace = 'default';
type Container = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

function pod(name: string, command: string[], spec: object = {}, container: object = {}): Pod {
  const main = { name: 'main', image, command: ['app', ...command], ...container };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: { containers: [main], ...spec } };
}

async function until(
  name: string,
  what: string,
  look: (status: NonNullable<Pod['status']>, main?: Container) => boolean,
) {
  return await poll(
    async () => {
      const { status = {} } = await client.get(Pods, { name, namespace });
      return look(status, status.containerStatuses?.[0]) ? status : undefined;
    },
    { what: `pod ${name}: ${what}`, limitMs: 60_000 },
  );
}

const gone = (name: string) =>
  poll(async () => ((await client.find(Pods, { name, namespace })) === undefined ? true : undefined), {
    what: `pod ${name} to be gone`,
  });

const serving = async () => {
  const claim = await claimPort();
  const port = claim.value;
  const env = [
    { name: 'PORT', value: String(port) },
    { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ];
  return { url: `http://${runner.address}:${port}`, port, env };
};

describe('ProcessRunner', () => {
  it('is a node that is Ready', async () => {
    const { status } = await client.get(Nodes, { name: runner.name });

    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  });

  it('runs what a Deployment asks for: environment, volumes, identity, probes', async () => {
    const { url, port, env } = await serving();
    const meta = (name: string) => ({ name, namespace });
    await client.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: meta('settings'),
      data: { colour: 'blue', 'file.txt': 'from the map' },
    });
    await client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: meta('hidden'),
      stringData: { word: 'sesame' },
    });
    const container = {
      name: 'main',
      image,
      command: ['app', 'serve', '/settings/file.txt'],
      env: [
        ...env,
        { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } },
        { name: 'WORD', valueFrom: { secretKeyRef: { name: 'hidden', key: 'word' } } },
        { name: 'NONE', valueFrom: { secretKeyRef: { name: 'missing', key: 'x', optional: true } } },
        { name: 'BOTH', value: '$(COLOUR) $(WORD)' },
        { name: 'READY_FILE', value: '/settings/colour' },
      ],
      envFrom: [{ prefix: 'MAP_', configMapRef: { name: 'settings' } }],
      volumeMounts: [
        { name: 'settings', mountPath: '/settings' },
        { name: 'scratch', mountPath: '/tmp' },
      ],
      ports: [{ name: 'http', containerPort: port }],
      readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 1 },
      livenessProbe: { httpGet: { path: '/live', port: 'http' }, periodSeconds: 1 },
    };
    const labels = { app: 'served' };
    const volumes = [
      { name: 'settings', configMap: { name: 'settings' } },
      { name: 'scratch', emptyDir: {} },
    ];
    await client.create(Deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: meta('served'),
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container], volumes } },
      },
    });
    await poll(
      async () => ((await client.get(Deployments, meta('served'))).status?.availableReplicas === 1 ? true : undefined),
      { what: 'the Deployment to be available', limitMs: 60_000 },
    );

    const seen = (await (await fetch(url)).json()) as {
      env: Record<string, string>;
      file: string;
      whoami: { status: { userInfo: { username: string; extra: Record<string, string[]> } } };
    };

    expect(seen.file).toBe('from the map');
    expect(seen.env).toMatchObject({ COLOUR: 'blue', WORD: 'sesame', BOTH: 'blue sesame', MAP_colour: 'blue' });
    expect(seen.env['NAME']).toMatch(/^served-/);
    expect(seen.env).not.toHaveProperty('NONE');
    expect(seen.env['TMPDIR']).toContain(runner.dir);
    expect(seen.whoami.status.userInfo.username).toBe('system:serviceaccount:default:default');
    expect(seen.whoami.status.userInfo.extra['authentication.kubernetes.io/pod-name']).toEqual([seen.env['NAME']]);

    await client.delete(Deployments, meta('served'), { propagation: 'Foreground' });
    await gone(seen.env['NAME'] ?? '');
    await expect(fetch(url)).rejects.toThrow();
  });

  it('starts a crashing container again, with pauses, and counts', async () => {
    await client.create(Pods, pod('crashing', ['fail']));

    const status = await until(
      'crashing',
      'back-off after restarts',
      (_, main) => (main?.restartCount ?? 0) >= 2 && main?.state?.waiting?.reason === 'CrashLoopBackOff',
    );

    expect(status.phase).toBe('Running');
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'False' }));
    await client.delete(Pods, { name: 'crashing', namespace }, { gracePeriodSeconds: 0 });
  });

  it.each([
    ['ok', 'OnFailure', 'Succeeded', 0],
    ['fail', 'Never', 'Failed', 3],
  ])('lets a pod that runs "%s" with policy %s end as %s', async (mode, restartPolicy, phase, exitCode) => {
    await client.create(Pods, pod(`ends-${mode}`, [mode], { restartPolicy }));

    const status = await until(`ends-${mode}`, phase, (seen) => seen.phase === phase);

    expect(status.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode });
  });

  it('runs init containers first, one after the other', async () => {
    const init = (name: string, command: string[]) => ({ name, image, command: ['app', ...command] });
    await client.create(
      Pods,
      pod('inits', ['ok'], { restartPolicy: 'Never', initContainers: [init('a', ['ok']), init('b', ['fail'])] }),
    );

    const status = await until('inits', 'Failed', (seen) => seen.phase === 'Failed');

    expect(status.containerStatuses?.[0]?.state?.waiting).toBeDefined();
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Initialized', status: 'False' }));
  });

  it('waits for a Secret that is missing, saying so, and goes on when it is there', async () => {
    const env = [{ name: 'WORD', valueFrom: { secretKeyRef: { name: 'late', key: 'word' } } }];
    await client.create(Pods, pod('waiting', ['ok'], { restartPolicy: 'Never' }, { env }));
    const status = await until('waiting', 'config error', (_, main) => main?.state?.waiting?.message !== undefined);
    expect(status.phase).toBe('Pending');
    expect(status.containerStatuses?.[0]?.state?.waiting).toEqual({
      reason: 'CreateContainerConfigError',
      message: 'secret "late" not found',
    });

    const metadata = { name: 'late', namespace };
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { word: 'x' } });

    await until('waiting', 'Succeeded', (seen) => seen.phase === 'Succeeded');
  });

  it.each([
    ['an image that it does not know', { image: 'localhost/other:1' }, 'ErrImageNeverPull'],
    ['a program that is not in the image', { command: ['bash'] }, 'RunContainerError'],
  ])('says that it has not %s', async (what, container, reason) => {
    const name = `none-${what.length}`;
    await client.create(Pods, pod(name, ['ok'], {}, container));

    await until(name, reason, (_, main) => main?.state?.waiting?.reason === reason);
  });

  it('restarts a container whose liveness probe fails', async () => {
    const { env } = await serving();
    const livenessProbe = { tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 1 };
    await client.create(Pods, pod('dead', ['serve'], {}, { env, livenessProbe }));

    await until('dead', 'a restart', (_, main) => (main?.restartCount ?? 0) >= 1);

    await client.delete(Pods, { name: 'dead', namespace }, { gracePeriodSeconds: 0 });
  });

  it('is not ready while the readiness probe fails', async () => {
    const { port, env } = await serving();
    const metadata = { name: 'gate', namespace };
    await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { ready: 'no' } });
    const container = {
      env: [...env, { name: 'READY_FILE', value: '/gate/ready' }],
      volumeMounts: [{ name: 'gate', mountPath: '/gate' }],
      readinessProbe: { httpGet: { path: '/ready', port }, periodSeconds: 1, failureThreshold: 1 },
    };
    const volumes = [{ name: 'gate', configMap: { name: 'gate' } }];
    await client.create(Pods, pod('gated', ['serve'], { volumes }, container));
    const ready = await until('gated', 'running', (_, main) => main?.state?.running !== undefined);
    expect(ready.containerStatuses?.[0]).toMatchObject({ ready: false, started: true });
  });

  it('kills what ignores SIGTERM when the grace period is over, then lets the pod go', async () => {
    const { url, env } = await serving();
    const graceful = { terminationGracePeriodSeconds: 1 };
    await client.create(Pods, pod('stubborn', ['stubborn'], graceful, { env }));
    await poll(() => fetch(`${url}/live`).catch(() => undefined), { what: 'it to serve' }); // its handler is set by then
    const log = runner.logFile(namespace, 'stubborn', 'main');
    expect(log !== undefined && existsSync(log)).toBe(true);

    await client.delete(Pods, { name: 'stubborn', namespace });

    await gone('stubborn');
  });

  it('goes on when the apiserver was away', async () => {
    await plane.restart('kube-apiserver');
    await client.create(Pods, pod('afterwards', ['ok'], { restartPolicy: 'Never' }));

    await until('afterwards', 'Succeeded', (seen) => seen.phase === 'Succeeded');
  });

  it('leaves no process when it is closed', async () => {
    const second = await ProcessRunner.start(plane, { images: { [image]: { command: { app } } } });
    const port = await claimPort();
    const env = [
      { name: 'PORT', value: String(port.value) },
      { name: 'POD_IP', value: second.address },
    ];
    await client.create(Pods, pod('left', ['stubborn'], { nodeName: second.name }, { env }));
    const live = `http://${second.address}:${port.value}/live`;
    await poll(() => fetch(live).catch(() => undefined), { what: 'it to serve' });

    await second.close();

    await expect(fetch(live)).rejects.toThrow();
  });
});
