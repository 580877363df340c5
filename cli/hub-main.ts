/** `muster hub`: environment and flags to {@link runHub}. */
import { formatGoDuration } from '../api/duration.ts';
import { given } from '../api/given.ts';
import { version } from '../api/version.ts';
import type { AgentDefaults } from '../runtime/hub/fleet/edge-agent.ts';
import { runHub } from '../runtime/hub/fleet/hub.ts';
import { createClient } from '../runtime/kube/create-client.ts';
import { createLogger } from '../runtime/kube/logger.ts';
import { createMetrics } from '../runtime/kube/metrics.ts';
import { releaseMemoryAtRest } from '../runtime/process/release-memory.ts';
import { electionOf } from './election.ts';
import { bindAddressOf, choiceOf, countOf, durationOf, flagOf, textOf } from './env.ts';
import type { Env } from './env.ts';
import { connection, logLevels, namespaceOf, parseFlags, runUntilSignal } from './process.ts';

export const hubHelp = `Usage: muster hub [--kubeconfig FILE] [--namespace NAMESPACE]

Answers registrations. In a pod it uses the pod's own identity.

Environment
  NAMESPACE                             system namespace (cattle-fleet-system)
  MUSTER_PROBE_BIND_ADDRESS             /healthz and /readyz (:8081; 0: off)
  MUSTER_METRICS_BIND_ADDRESS           /metrics (:8080; 0: off)
  MUSTER_LOG_LEVEL                      debug, info, warn, error or silent (info)
  FLEET_REGISTRATION_TOKEN_TTL_REQUIRED true: tokens without ttl are refused (false)
  FLEET_AGENT_REPLICA_COUNT             pods of each agent that the hub installs (1)
  FLEET_AGENT_ELECTION_LEASE_DURATION   their leader election, and so
  FLEET_AGENT_ELECTION_RENEW_DEADLINE   FLEET_AGENT_ELECTION_RETRY_PERIOD
  POD_NAME                              identity in the Lease
`;

/** Runs the command; resolves to the exit code. Throws only MusterErrors of flags, environment or kubeconfig. */
export async function hubMain(argv: readonly string[], env: Env = process.env): Promise<number> {
  const flags = parseFlags('hub', argv);
  if (flags.help) {
    process.stdout.write(hubHelp);
    return 0;
  }
  const settings = hubSettings(env);
  const config = connection(flags, env);
  const logger = createLogger({ level: choiceOf(env, 'MUSTER_LOG_LEVEL', logLevels) ?? 'info', name: 'hub' });
  const { warning } = electionOf(env, electionVariables);
  if (warning !== undefined) logger.warn({}, `of agents: ${warning}`);
  const metrics = createMetrics();
  const client = createClient(config, {
    userAgent: `muster-hub/${version}`,
    // a burst: 24 registrations side by side, each with several writes at once, must not wait for each other's connection
    maxConnections: 64,
    logger,
    metrics,
  });
  const endReleases = releaseMemoryAtRest();
  try {
    return await runUntilSignal((signal) =>
      runHub({ ...settings, client, namespace: namespaceOf(flags, env, config), logger, metrics }, signal),
    );
  } finally {
    endReleases();
    await client.close();
  }
}

/** The options of {@link runHub} that the environment gives. Throws INVALID_ARGUMENT naming the variable. */
export function hubSettings(env: Env) {
  const podName = textOf(env, 'POD_NAME');
  return {
    probeAddress: bindAddressOf(env, 'MUSTER_PROBE_BIND_ADDRESS', ':8081'),
    metricsAddress: bindAddressOf(env, 'MUSTER_METRICS_BIND_ADDRESS', ':8080'),
    tokenTtlRequired: flagOf(env, 'FLEET_REGISTRATION_TOKEN_TTL_REQUIRED'),
    ...(podName === undefined ? {} : { podName }),
    agentDefaults: agentDefaults(env),
  };
}

const electionVariables = 'FLEET_AGENT_ELECTION';

/** What Fleet's chart tells its hub of agents. A replica count of 0 is Fleet's way of saying the default. */
function agentDefaults(env: Env): AgentDefaults {
  const replicas = countOf(env, 'FLEET_AGENT_REPLICA_COUNT') || undefined;
  const time = (name: string): string | undefined => {
    const ms = durationOf(env, `${electionVariables}_${name}`);
    return ms === undefined ? undefined : formatGoDuration(ms);
  };
  const election = given({
    leaseDuration: time('LEASE_DURATION'),
    retryPeriod: time('RETRY_PERIOD'),
    renewDeadline: time('RENEW_DEADLINE'),
  });
  const isGiven = Object.keys(election).length > 0 && electionOf(env, electionVariables).warning === undefined;
  return {
    ...(replicas === undefined ? {} : { replicas }),
    ...(isGiven ? { election } : {}),
  };
}
