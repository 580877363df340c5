/** Construct of the agent in a downstream cluster, with the names of Fleet's own agent. */
import { createHash } from 'node:crypto';
import { Construct } from 'constructs';
import { formatGoDuration } from '../../api/duration.ts';
import { durations } from '../../api/durations.ts';
import { MusterError } from '../../api/errors.ts';
import { formatAgentConfig } from '../../api/fleet/agent-config.ts';
import { bootstrapSecretData } from '../../api/fleet/bootstrap-values.ts';
import {
  agentNames,
  configKey,
  configMapNames,
  defaults,
  hubAddressKey,
  labels,
  managedByMuster,
  secretKeys,
  secretNames,
  secretTypes,
} from '../../api/fleet/constants.ts';
import { formatHubAddress } from '../../api/fleet/hub-address.ts';
import { agentClusterRoleName, safeConcat } from '../../api/fleet/names.ts';
import { addObject } from '../add-object.ts';
import { checkProtocol } from '../protocol.ts';
import { addSecretSource } from '../secrets/add-secret-source.ts';
import { refuseSecretsInClearBelow } from '../secrets/in-clear-below.ts';
import { agentClusterRules, agentNamespaceRules } from './agent-rbac.ts';
import { addScheduling } from './agent-scheduling.ts';
import { addBinding, addRole } from './chart-rbac.ts';
import { isFleetImage, resolveImage } from './image.ts';
import { podAnnotations } from './names.ts';
import { addDeployment } from './pod.ts';
import type { AgentProps, EnvVar } from './props.ts';

const common = { [labels.managedBy]: managedByMuster };

/** Fleet: default affinity of the agent. */
const preferMarkedNodes = {
  nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 1,
        preference: { matchExpressions: [{ key: 'fleet.cattle.io/agent', operator: 'In', values: ['true'] }] },
      },
    ],
  },
};

/**
 * The agent, in any chart of the user that is applied to a downstream cluster: namespace, accounts, rights, configuration,
 * Deployment `fleet-agent` and, when asked for, the source of its bootstrap Secret, priority class and disruption budget.
 * Throws INVALID_ARGUMENT, UNSUPPORTED, SECRET_IN_CLEAR.
 */
export class Agent extends Construct {
  readonly namespace: string;

  constructor(scope: Construct, id: string, props: AgentProps) {
    super(scope, id);
    checkProtocol(props.protocol, 'Agent.protocol');
    const namespace = props.namespace ?? defaults.agentNamespace;
    this.namespace = namespace;
    const isFleet = (props.program ?? (isFleetImage(props.image) ? 'fleet' : 'muster')) === 'fleet';
    addObject(this, 'namespace', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: common },
    });
    this.addAccount(namespace);
    this.addRights(namespace, props.deploysWorkloads ?? isFleet);
    this.addNetworkPolicy(namespace);
    const configHash = this.addConfig(namespace, props, isFleet);
    this.addBootstrap(namespace, props);
    const priorityClassName = addScheduling(this, namespace, common, props.schedulingCustomization);
    const annotations = {
      ...(configHash === undefined ? {} : { [podAnnotations.config]: configHash }),
      ...(props.redeployGeneration === undefined
        ? {}
        : { [podAnnotations.redeploy]: String(props.redeployGeneration) }),
    };
    addDeployment(
      this,
      {
        name: agentNames.deployment,
        labels: { ...common, app: agentNames.deployment },
        namespace,
        serviceAccount: agentNames.serviceAccount,
        image: resolveImage(props.image, props.privateRepoURL, props.systemDefaultRegistry),
        command: props.command ?? (isFleet ? ['fleetagent'] : ['muster', 'agent']),
        // It opens its endpoints when it leads: a new pod would never be ready while the old one holds the Lease.
        probes: !isFleet,
        env: environment(props),
        probeVariable: 'FLEET_AGENT_PROBE_BIND_ADDRESS',
        metricsVariable: 'FLEET_AGENT_METRICS_BIND_ADDRESS',
        // Requests only: what a limit must be depends on the charts that an agent is given to install.
        resources: { requests: { cpu: '20m', memory: '64Mi' } },
        affinity: props.affinity ?? preferMarkedNodes,
        ...(priorityClassName === undefined ? {} : { priorityClassName }),
        ...(Object.keys(annotations).length === 0 ? {} : { podAnnotations: annotations }),
      },
      props,
    );
    this.lockDefaultAccount(namespace);
    if (!props.allowSecrets) refuseSecretsInClearBelow(this);
  }

  private addAccount(namespace: string): void {
    addObject(this, 'service-account', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: agentNames.serviceAccount, namespace, labels: common },
    });
  }

  /**
   * Pods that name no account get no credential in this namespace. The account is Kubernetes', so no label of ours; it is
   * made a moment after the namespace, so it comes last.
   */
  private lockDefaultAccount(namespace: string): void {
    addObject(this, 'default-account', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace },
      automountServiceAccountToken: false,
    });
  }

  private addRights(namespace: string, deploysWorkloads: boolean): void {
    const subjects = [{ kind: 'ServiceAccount', name: agentNames.serviceAccount, namespace }];
    const clusterRole = { kind: 'ClusterRole', name: agentClusterRoleName(namespace) };
    addRole(this, { ...clusterRole, labels: common, rules: agentClusterRules(deploysWorkloads) });
    addBinding(this, {
      name: safeConcat(namespace, agentNames.deployment, 'role', 'binding'),
      labels: common,
      roleRef: clusterRole,
      subjects,
    });
    const role = { kind: 'Role', name: agentNames.serviceAccount };
    addRole(this, { ...role, namespace, labels: common, rules: agentNamespaceRules() });
    addBinding(this, { name: role.name, namespace, labels: common, roleRef: role, subjects });
  }

  /** Namespaces may deny all traffic by default; the agent has to reach the hub. */
  private addNetworkPolicy(namespace: string): void {
    addObject(this, 'network-policy', {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: agentNames.networkPolicy, namespace, labels: common },
      spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'], ingress: [{}], egress: [{}] },
    });
  }

  /** The edge configuration, only when it says something. Returns the digest of what an agent reads at its start. */
  private addConfig(namespace: string, props: AgentProps, isFleet: boolean): string | undefined {
    const given = {
      ...(props.labels && Object.keys(props.labels).length > 0 ? { labels: sortKeys(props.labels) } : {}),
      ...(props.clientID ? { clientID: props.clientID } : {}),
      ...(props.agentTLSMode ? { agentTLSMode: props.agentTLSMode } : {}),
      ...(props.garbageCollectionInterval ? { garbageCollectionInterval: props.garbageCollectionInterval } : {}),
    };
    const text = Object.keys(given).length === 0 ? undefined : formatAgentConfig(given);
    const address = props.hubAddress === undefined ? undefined : formatHubAddress(props.hubAddress);
    if (text === undefined && address === undefined) return undefined;
    addObject(this, 'config', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: configMapNames.agent, namespace, labels: common },
      data: {
        ...(text === undefined ? {} : { [configKey]: text }),
        ...(address === undefined ? {} : { [hubAddressKey]: address }),
      },
    });
    const read = `${text ?? ''}${isFleet ? (address ?? '') : ''}`;
    return read === '' ? undefined : createHash('sha256').update(read).digest('hex').slice(0, 16);
  }

  private addBootstrap(namespace: string, { bootstrap, bootstrapSecret }: AgentProps): void {
    if (bootstrap !== undefined && bootstrapSecret !== undefined)
      throw new MusterError('INVALID_ARGUMENT', 'bootstrap and bootstrapSecret are both set', {
        where: 'Agent',
        hint: 'Give bootstrapSecret; bootstrap writes the credential itself.',
      });
    if (bootstrapSecret !== undefined)
      addSecretSource(this, 'bootstrap', bootstrapSecret, {
        name: secretNames.bootstrap,
        namespace,
        fixed: true,
        key: secretKeys.values,
        where: 'Agent.bootstrapSecret',
      });
    if (bootstrap === undefined) return;
    addObject(this, 'bootstrap', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secretNames.bootstrap, namespace, labels: common },
      type: secretTypes.opaque,
      data: bootstrapSecretData(bootstrap),
    });
  }
}

function environment(props: AgentProps): EnvVar[] {
  const { agentLeaseDuration, agentLeaseRetryPeriod, agentLeaseRenewDeadline } = durations;
  // one that waits should take over soon; one that is alone need not renew that often
  const election =
    (props.replicas ?? 1) > 1
      ? { lease: durations.leaseDuration, retry: durations.leaseRetry, deadline: durations.leaseRenewDeadline }
      : { lease: agentLeaseDuration, retry: agentLeaseRetryPeriod, deadline: agentLeaseRenewDeadline };
  return [
    { name: 'BUNDLEDEPLOYMENT_RECONCILER_WORKERS', value: props.workers?.bundledeployment || defaults.agentWorkers },
    { name: 'DRIFT_RECONCILER_WORKERS', value: props.workers?.drift || defaults.agentWorkers },
    { name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'AGENT_SCOPE', value: props.agentScope ?? '' },
    { name: 'CHECKIN_INTERVAL', value: props.checkinInterval || defaults.checkinInterval },
    { name: 'CATTLE_ELECTION_LEASE_DURATION', value: formatGoDuration(election.lease) },
    { name: 'CATTLE_ELECTION_RETRY_PERIOD', value: formatGoDuration(election.retry) },
    { name: 'CATTLE_ELECTION_RENEW_DEADLINE', value: formatGoDuration(election.deadline) },
  ];
}

function sortKeys(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
