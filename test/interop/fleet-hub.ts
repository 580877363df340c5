/** Fleet's own hub at work on a real control plane: both of its processes, under its own ServiceAccount. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Leases } from '../../api/kubernetes/workloads.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane, ManagedProcess, claimPort, poll } from '../harness/index.ts';
import { applyAll } from '../support/hub-plane.ts';
import { fleetHubManifests, systemNamespace } from './fleet-manifests.ts';
import { programs } from './programs.ts';

/** What a Deployment of Fleet's chart sets: defaults of its values. */
const election = { LEASE_DURATION: '30s', RETRY_PERIOD: '10s', RENEW_DEADLINE: '25s' };
const electionOf = (prefix: string): Record<string, string> =>
  Object.fromEntries(Object.entries(election).map(([name, value]) => [`${prefix}_ELECTION_${name}`, value]));

/** A hub of either kind, as tests see it. */
export interface Hub {
  readonly plane: ControlPlane;
  /** An administrator. */
  readonly admin: KubeClient;
  /** The ends of the logs, for a test that failed. */
  logs(): string;
  close(): Promise<void>;
}

export interface FleetHub extends Hub {
  readonly pids: readonly number[];
  /** Ends Fleet's processes and leaves the control plane. */
  stopProcesses(): Promise<void>;
}

/** On a control plane of its own unless one is given, which stays. */
export async function startFleetHub(given?: ControlPlane): Promise<FleetHub> {
  const plane = given ?? (await ControlPlane.start({ name: 'fleet-hub' }));
  const admin = plane.client();
  const processes: ManagedProcess[] = [];
  const ports = [await claimPort(), await claimPort()];
  const stopProcesses = async (): Promise<void> => {
    await Promise.all(processes.map((each) => each.stop({ limitMs: 2_000 })));
  };
  const close = async (): Promise<void> => {
    await stopProcesses();
    await admin.close();
    if (given === undefined) await plane.close();
    for (const port of ports) port.release();
  };
  try {
    await applyAll(admin, await fleetHubManifests({ apiServerURL: plane.server, apiServerCA: plane.ca }));
    const account = { namespace: systemNamespace, name: 'fleet-controller' };
    const { token } = await admin.createToken(account, { expirationSeconds: 24 * 3600 });
    const kubeconfig = join(plane.dir, 'fleet-controller.kubeconfig');
    writeFileSync(kubeconfig, plane.kubeconfigFor({ token }), { mode: 0o600 });
    const [metrics, probe] = ports.map(({ value }) => `127.0.0.1:${value}`);
    const env = {
      // in a pod every part finds the pod's identity; here some look at the flag and some at the variable
      KUBECONFIG: kubeconfig,
      NAMESPACE: systemNamespace,
      ...electionOf('CATTLE'),
      ...electionOf('FLEET_AGENT'),
      FLEET_AGENT_REPLICA_COUNT: '1',
      FLEET_METRICS_BIND_ADDRESS: metrics ?? '0',
      FLEET_HEALTHPROBE_BIND_ADDRESS: probe ?? '0',
    };
    const start = async (role: string, ...args: string[]): Promise<void> => {
      const started = await ManagedProcess.start({
        name: `fleetcontroller ${role}`,
        command: programs.controller,
        args: [...args, '--kubeconfig', kubeconfig],
        logFile: join(plane.dir, `fleet-${role}.log`),
        env,
      });
      processes.push(started);
    };
    await start('agentmanagement', 'agentmanagement', '--disable-bootstrap');
    await start('controller', '--disable-metrics');
    await Promise.race([leading(admin), ...processes.map((each) => each.failure())]);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    plane,
    admin,
    pids: processes.map(({ pid }) => pid),
    logs: () => processes.map((each) => `--- ${each.name}\n${each.logTail(25)}`).join('\n'),
    stopProcesses,
    close,
  };
}

/** Resolves when both processes hold their Leases. */
async function leading(admin: KubeClient): Promise<void> {
  const held = async (): Promise<true | undefined> => {
    const { items } = await admin.list(Leases, { namespace: systemNamespace });
    return items.filter(({ spec }) => spec?.holderIdentity).length >= 2 ? true : undefined;
  };
  await poll(held, { what: "Fleet's hub to lead" });
}
