import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ConfigMaps, Nodes, Pods } from '../../../api/kubernetes/core.ts';
import type { Pod } from '../../../api/kubernetes/core.ts';
import { Deployments } from '../../../api/kubernetes/workloads.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { buildBusyboxImage } from '../../../tools/image/index.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { poll } from '../poll.ts';
import { Node } from './node.ts';
import { nodeSupport } from './support.ts';

// Real programs on shared cores: generous, since it ends a hang and decides nothing else.
vi.setConfig({ testTimeout: 120_000 });

// Where there is no root the ProcessRunner stands in for a node, and its tests are the ones that count.
describe.runIf(nodeSupport().supported)('a node', () => {
  let plane: ControlPlane;
  let node: Node;
  let client: KubeClient;
  let images: string[];

  beforeAll(async () => {
    const [started, busybox] = await Promise.all([ControlPlane.start({ name: 'nodes' }), buildBusyboxImage()]);
    plane = started;
    client = plane.client();
    images = [busybox.archive];
    node = await Node.start(plane, { images });
    await plane.whenWorking();
  });
  afterAll(async () => {
    await node.close();
    await client.close();
    await plane.close();
  });

  const podSpec = (command: string[], extra: object = {}) => ({
    hostNetwork: true,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'localhost/busybox:1', imagePullPolicy: 'Never', command, ...extra }],
  });

  function pod(name: string, spec: object): Pod {
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec: { ...spec } };
  }

  const statusOf = async (name: string) => (await client.get(Pods, { name, namespace: 'default' })).status;

  const running = (name: string, ready = (status: Pod['status']) => status?.phase === 'Running') =>
    poll(async () => ((await statusOf(name).then(ready)) ? true : undefined), { what: `pod ${name}` });

  it('is Ready in the API under a loopback address of its own', async () => {
    const seen = await client.get(Nodes, { name: node.name });

    expect(node.name).toMatch(/^127\.\d+\.\d+\.\d+$/);
    expect(seen.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
  });

  it('runs what a Deployment asks for, restricted, with its volumes, token and probe', async () => {
    await client.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace: 'default' },
      data: { colour: 'blue' },
    });
    const script = 'cat /settings/colour && test -s /var/run/secrets/kubernetes.io/serviceaccount/token && sleep 3600';
    const container = {
      volumeMounts: [{ name: 'settings', mountPath: '/settings' }],
      readinessProbe: { exec: { command: ['cat', '/settings/colour'] }, periodSeconds: 1 },
      securityContext: {
        runAsUser: 1000,
        runAsNonRoot: true,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      },
    };
    const spec = {
      ...podSpec(['sh', '-c', script], container),
      volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
    };
    const labels = { app: 'restricted' };
    await client.create(Deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'restricted', namespace: 'default' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });

    await poll(
      async () => {
        const { status } = await client.get(Deployments, { name: 'restricted', namespace: 'default' });
        return status?.availableReplicas === 1 ? true : undefined;
      },
      { what: 'the Deployment to be available' },
    );
  });

  it('starts its pods again when it is killed and started on its folder', async () => {
    await client.create(Pods, pod('survivor', podSpec(['sleep', '3600'])));
    await running('survivor');
    const before = await client.get(Pods, { name: 'survivor', namespace: 'default' });

    await node.kill();
    expect(node.running).toBe(false);
    await node.restart();

    await running('survivor', (status) => {
      const container = status?.containerStatuses?.[0];
      return container?.restartCount === 1 && container.state?.running !== undefined;
    });
    const after = await client.get(Pods, { name: 'survivor', namespace: 'default' });
    expect(after.metadata.uid).toBe(before.metadata.uid);
  });

  it('stands beside another node of the same control plane', async () => {
    await using second = await Node.start(plane, { images });
    expect(second.name).not.toBe(node.name);

    for (const [index, { name }] of [node, second].entries()) {
      await client.create(Pods, pod(`on-${index}`, { ...podSpec(['sleep', '3600']), nodeName: name }));
    }

    await Promise.all([running('on-0'), running('on-1')]);
  });

  it('says what went wrong when an image cannot be imported', async () => {
    await expect(Node.start(plane, { images: ['/dev/null'] })).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringMatching(/ended[^]*--- import.log\n.+/) as string,
    });
  });

  it('leaves no process, mount or cgroup when it is closed, and the machine as it was', async () => {
    const machine = () =>
      ['vm/overcommit_memory', 'kernel/panic'].map((name) => readFileSync(`/proc/sys/${name}`, 'utf8'));
    const before = machine();
    const short = await Node.start(plane, { images });
    const cgroups = readFileSync(`${short.dir}/join.sh`, 'utf8').match(/\/sys\/fs\/cgroup[^']*/g) ?? [];
    expect(cgroups.length).toBeGreaterThan(0);
    expect(cgroups.every((folder) => existsSync(folder))).toBe(true);

    await short.close();

    expect(cgroups.filter((folder) => existsSync(folder))).toEqual([]);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(short.dir);
    expect(machine()).toEqual(before);
  });
});
