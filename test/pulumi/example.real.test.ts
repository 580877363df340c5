import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clusterNamespace } from '../../api/fleet/names.ts';
import { CustomResourceDefinitions, Deployments } from '../../api/kubernetes/workloads.ts';
import { Namespaces, Secrets } from '../../api/kubernetes/core.ts';
import { ClusterRoles } from '../../api/kubernetes/rbac.ts';
import type { ResourceType } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { pulumiEnvironment } from '../../tools/index.ts';
import { ControlPlane } from '../harness/index.ts';
import { PulumiEngine } from '../harness/pulumi-engine.ts';
import { ScriptedHub } from './scripted-hub.ts';
import { ScriptedWorkloads, withoutDeployments } from './scripted-workloads.ts';
import { SocketService } from './socket-service.ts';

const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url));

let planes: { hub: ControlPlane; east: ControlPlane; west: ControlPlane };
let clients: { hub: KubeClient; west: KubeClient };
let workloads: ScriptedWorkloads[];
let service: SocketService;
let engine: PulumiEngine;

beforeAll(async () => {
  const options = { controllerManagerArgs: withoutDeployments };
  const [hub, east, west] = await Promise.all([
    ControlPlane.start({ name: 'hub', ...options }),
    ControlPlane.start({ name: 'east', controllerManager: false }),
    ControlPlane.start({ name: 'west', ...options }),
  ]);
  planes = { hub, east, west };
  clients = { hub: hub.client(), west: west.client() };
  workloads = Object.values(clients).map((client) => new ScriptedWorkloads(client));
  service = await SocketService.start({ east: served(east), west: served(west) });
  engine = await PulumiEngine.create({
    project: repositoryRoot,
    env: { ...(await pulumiEnvironment()), PULUMI_CONFIG_PASSPHRASE: 'test' },
  });
  await engine.configure('muster:hubKubeconfig', hub.kubeconfig, { secret: true });
  await engine.configure('hubURL', hub.server);
  await engine.configure('hubCA', hub.ca);
  await engine.configure('clusterService', service.socket);
}, 180_000);

afterAll(async () => {
  await engine?.close();
  await service?.close();
  await Promise.all((workloads ?? []).map((workload) => workload.close()));
  await Promise.all(Object.values(clients ?? {}).map((client) => client.close()));
  await Promise.all(Object.values(planes ?? {}).map((plane) => plane.close()));
});

const served = (plane: ControlPlane) => ({ kubeconfig: plane.kubeconfig, server: plane.server });

test('one program provisions clusters, installs the hub, registers both clusters, and removes all of it', async () => {
  const before = await inventory();

  // Nothing exists: no kubeconfig is known, no kind is defined.
  const preview = await engine.preview();
  expect(preview.output).toContain('AgentRelease');
  expect(service.made.size).toBe(0);

  const hub = answerWhenDefined(clients.hub);
  await engine.up();
  const scripted = await hub;
  expect(await engine.outputs()).toEqual({
    registered: [
      { name: 'east', namespace: clusterNamespace('fleet-default', 'east'), ready: true },
      { name: 'west', namespace: clusterNamespace('fleet-default', 'west'), ready: true },
    ],
  });

  // No secret that the run has made or been given is in the state in clear.
  const state = await engine.storedState();
  const secrets = [
    planes.hub.adminToken,
    planes.east.adminToken,
    planes.west.adminToken,
    ...scripted.issued,
    ...[planes.hub, planes.east, planes.west].map(({ kubeconfig }) => kubeconfig.slice(0, 400)),
  ];
  for (const secret of secrets) {
    expect(state).not.toContain(secret);
    expect(state).not.toContain(JSON.stringify(secret).slice(1, -1));
    expect(state).not.toContain(Buffer.from(secret).toString('base64'));
  }

  await engine.preview('--expect-no-changes');
  // The Cluster of west was declared before its agent came: the first look finds it ready.
  await engine.refresh();
  await engine.refresh('--expect-no-changes');
  await engine.preview('--expect-no-changes');
  for (const secret of secrets) expect(await engine.storedState()).not.toContain(secret);

  await scripted.close();
  const removing = await ScriptedHub.start(clients.hub);
  await engine.destroy();
  await removing.close();
  expect(service.made.size).toBe(0);
  expect(await inventory()).toEqual(before);
}, 180_000);

/** The hub starts to answer once its kinds are there. */
async function answerWhenDefined(client: KubeClient): Promise<ScriptedHub> {
  for (;;) {
    const found = await client.find(Deployments, { namespace: 'cattle-fleet-system', name: 'muster-hub' });
    if (found?.status?.availableReplicas !== undefined) return ScriptedHub.start(client);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const kinds: readonly ResourceType[] = [CustomResourceDefinitions, Namespaces, ClusterRoles, Secrets, Deployments];

async function inventory(): Promise<string[]> {
  const found: string[] = [];
  for (const [plane, client] of Object.entries(clients)) {
    for (const type of kinds) {
      const { items } = await client.list(type);
      found.push(
        ...items.map(({ metadata }) => `${plane} ${type.kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`),
      );
    }
  }
  return found.filter((name) => !name.includes('ClusterRole /system:')).sort();
}
