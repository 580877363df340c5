/** The Node object that stands for this machine, kept alive as kubelet keeps its own. */
import { arch, platform } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Nodes } from '../../../api/kubernetes/core.ts';
import { Leases } from '../../../api/kubernetes/workloads.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';

/** Kubernetes: a node's Lease is renewed every 10 s; without it the node is NotReady after 50 s. */
const renewMs = 10_000;

/** Makes the Node and says that it is Ready. */
export async function registerNode(client: KubeClient, name: string, address: string): Promise<void> {
  const os = platform() === 'win32' ? 'windows' : platform();
  const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': os, 'muster.dev/process-runner': 'true' };
  await client.create(Nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
  const now = new Date().toISOString();
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'ProcessRunner',
    message: 'pods run as processes of the test program',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  const capacity = { cpu: '64', memory: '256Gi', pods: '250' };
  const nodeInfo = {
    architecture: arch(),
    operatingSystem: os,
    osImage: 'none',
    kernelVersion: 'none',
    kubeletVersion: 'v0.0.0-process-runner',
    containerRuntimeVersion: 'process://1',
    kubeProxyVersion: '',
    machineID: name,
    systemUUID: name,
    bootID: name,
  };
  const addresses = [
    { type: 'InternalIP', address },
    { type: 'Hostname', address: name },
  ];
  const status = { conditions: [ready], addresses, capacity, allocatable: capacity, nodeInfo };
  await client.patch(Nodes, { name }, { status }, { type: 'merge', subresource: 'status' });
}

/** Renews the node's Lease until the signal aborts. */
export async function keepAlive(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: 'kube-node-lease' },
      spec: {
        holderIdentity: name,
        leaseDurationSeconds: 40,
        renewTime: new Date().toISOString().replace('Z', '000Z'),
      },
    };
    // An apiserver that is away is no reason to stop: tests stop theirs.
    await client.apply(Leases, lease, { fieldManager: 'process-runner', signal }).catch(() => undefined);
    await pause(renewMs, undefined, { signal }).catch(() => undefined);
  }
}
