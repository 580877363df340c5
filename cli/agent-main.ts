/** `muster agent`: environment and flags to {@link runAgent}. Loads neither schemas nor constructs, to stay small. */
import { durations } from '../api/durations.ts';
import { version } from '../api/version.ts';
import { runAgent } from '../runtime/agent/fleet/agent.ts';
import { keepSmall } from '../runtime/process/keep-small.ts';
import { createClient } from '../runtime/kube/create-client.ts';
import { createLogger } from '../runtime/kube/logger.ts';
import { createMetrics } from '../runtime/kube/metrics.ts';
import { electionOf } from './election.ts';
import { bindAddressOf, choiceOf, durationOf, textOf } from './env.ts';
import type { Env } from './env.ts';
import { connection, logLevels, namespaceOf, parseFlags, runUntilSignal } from './process.ts';

export const agentHelp = `Usage: muster agent [--kubeconfig FILE] [--namespace NAMESPACE]

Registers this cluster with a hub and keeps it registered. In a pod it uses the pod's own identity.

Environment
  NAMESPACE                             namespace of the agent's Secrets, ConfigMap and Lease (cattle-fleet-system)
  AGENT_SCOPE                           keeps apart several agents of one cluster
  CHECKIN_INTERVAL                      time between heartbeats (15m)
  CATTLE_ELECTION_LEASE_DURATION        leader election (30s)
  CATTLE_ELECTION_RENEW_DEADLINE        leader election (25s)
  CATTLE_ELECTION_RETRY_PERIOD          leader election (10s)
  FLEET_AGENT_PROBE_BIND_ADDRESS        /healthz and /readyz (:8081; 0: off)
  FLEET_AGENT_METRICS_BIND_ADDRESS      /metrics (:8080; 0: off)
  MUSTER_LOG_LEVEL                      debug, info, warn, error or silent (info)
  POD_NAME, HOSTNAME                    identity in the Lease, label of the registered cluster
`;

/** Runs the command; resolves to the exit code. Throws only MusterErrors of flags, environment or kubeconfig. */
export async function agentMain(argv: readonly string[], env: Env = process.env): Promise<number> {
  const flags = parseFlags('agent', argv);
  if (flags.help) {
    process.stdout.write(agentHelp);
    return 0;
  }
  keepSmall();
  const settings = agentSettings(env);
  const config = connection(flags, env);
  const logger = createLogger({ level: choiceOf(env, 'MUSTER_LOG_LEVEL', logLevels) ?? 'info', name: 'agent' });
  const { warning } = electionOf(env, electionVariables);
  if (warning !== undefined) logger.warn({}, warning);
  const metrics = createMetrics();
  const edge = createClient(config, { userAgent: `muster-agent/${version}`, logger, metrics });
  try {
    return await runUntilSignal((signal) =>
      runAgent({ ...settings, edge, namespace: namespaceOf(flags, env, config), logger, metrics }, signal),
    );
  } finally {
    await edge.close();
  }
}

const electionVariables = 'CATTLE_ELECTION';

/** The options of {@link runAgent} that the environment gives. Throws INVALID_ARGUMENT naming the variable. */
export function agentSettings(env: Env) {
  const podName = textOf(env, 'POD_NAME');
  const hostname = textOf(env, 'HOSTNAME');
  return {
    agentScope: textOf(env, 'AGENT_SCOPE') ?? '',
    checkinIntervalMs: durationOf(env, 'CHECKIN_INTERVAL') || durations.agentCheckinInterval,
    election: electionOf(env, electionVariables).election,
    probeAddress: bindAddressOf(env, 'FLEET_AGENT_PROBE_BIND_ADDRESS', ':8081'),
    metricsAddress: bindAddressOf(env, 'FLEET_AGENT_METRICS_BIND_ADDRESS', ':8080'),
    ...(podName === undefined ? {} : { podName }),
    ...(hostname === undefined ? {} : { hostname }),
  };
}
