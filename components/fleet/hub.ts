/** Construct of the hub: namespaces, rights with their fence, configuration, Deployment. */
import { Construct } from 'constructs';
import { MusterError } from '../../api/errors.ts';
import {
  annotations,
  configKey,
  configMapNames,
  defaults,
  labels,
  managedByMuster,
} from '../../api/fleet/constants.ts';
import { formatHubConfig } from '../../api/fleet/hub-config.ts';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import { registrationNamespace } from '../../api/fleet/names.ts';
import { version } from '../../api/version.ts';
import { addObject } from '../add-object.ts';
import { checkProtocol } from '../protocol.ts';
import { refuseSecretsInClearBelow } from '../secrets/in-clear-below.ts';
import { agentPolicies } from './agent-policies.ts';
import { addBinding, addRole } from './chart-rbac.ts';
import { addArgoCDRights } from './hub-inventory.ts';
import { hubPolicies, isTheHub } from './hub-policies.ts';
import {
  bootstrapRules,
  bundleDeploymentRules,
  clusterStatusRules,
  contentRules,
  credentialRenewalRules,
  hubClusterRules,
  hubNamespaceRules,
  hubSystemRules,
  localAgentRules,
} from './hub-rbac.ts';
import { hubSourceRules } from './hub-sources.ts';
import { synthAgent } from './fleet-agent.ts';
import { isGiven, localBootstrap } from './local-agent.ts';
import { grantRoles, hubNames, workspaceLabel } from './names.ts';
import { addDeployment } from './pod.ts';
import { addPolicy } from './policy.ts';
import type { HubProps } from './props.ts';

const pemHead = '-----BEGIN CERTIFICATE-----';
const common = { [labels.managedBy]: managedByMuster };

/**
 * The hub, in any chart of the user that is applied to its cluster. Its CustomResourceDefinitions are a chart of their own
 * (FleetCrds), to be applied before. Needs Kubernetes 1.30 or newer, for its admission policies. Throws INVALID_ARGUMENT,
 * UNSUPPORTED, SECRET_IN_CLEAR.
 */
export class Hub extends Construct {
  /** System namespace. */
  readonly namespace: string;
  /** Namespaces that may hold Clusters and tokens, in the order given. */
  readonly workspaces: readonly string[];

  constructor(scope: Construct, id: string, props: HubProps) {
    super(scope, id);
    checkProtocol(props.protocol, 'Hub.protocol');
    const system = props.namespace ?? defaults.systemNamespace;
    const registration = registrationNamespace(system);
    const local = localBootstrap(props.config);
    const workspaces = [
      ...new Set([
        ...(props.workspaces ?? [defaults.defaultNamespace, defaults.localNamespace]),
        ...(local === undefined ? [] : [local.namespace]),
      ]),
    ];
    this.namespace = system;
    this.workspaces = workspaces;
    this.addNamespaces([system, registration], workspaces);
    for (const policy of [...hubPolicies({ system, registration }), ...agentPolicies]) addPolicy(this, policy, common);
    this.addGrantRoles();
    this.addHubRights(system, [registration, ...workspaces]);
    const config = hubConfig(props);
    this.addConfig(system, config);
    if (local !== undefined) this.addLocalAgent(system, local, config.agentImage ?? props.image);
    const { argoCD } = config.inventory ?? {};
    if (argoCD !== undefined) addArgoCDRights(this, { system, argoCD }, isTheHub(system));
    addDeployment(
      this,
      {
        name: hubNames.deployment,
        labels: { ...common, app: hubNames.deployment },
        namespace: system,
        serviceAccount: hubNames.serviceAccount,
        image: props.image,
        command: ['muster', 'hub'],
        env: [
          { name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
          { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
        probeVariable: 'MUSTER_PROBE_BIND_ADDRESS',
        metricsVariable: 'MUSTER_METRICS_BIND_ADDRESS',
        // Requests only: the caches grow with the fleet, and a hub killed for memory comes back to the same fleet.
        resources: { requests: { cpu: '100m', memory: '128Mi' } },
      },
      props,
    );
    if (!props.allowSecrets) refuseSecretsInClearBelow(this);
  }

  private addNamespaces(own: readonly string[], workspaces: readonly string[]): void {
    for (const name of new Set([...own, ...workspaces])) {
      addObject(this, `namespace:${name}`, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels: workspaces.includes(name) ? { ...common, [workspaceLabel]: 'true' } : common },
      });
    }
  }

  private addGrantRoles(): void {
    addRole(this, { name: grantRoles.bundleDeployment, labels: common, rules: bundleDeploymentRules });
    addRole(this, { name: grantRoles.content, labels: common, rules: contentRules });
    addRole(this, { name: grantRoles.clusterStatus, labels: common, rules: clusterStatusRules });
    addRole(this, { name: grantRoles.credentialRenewal, labels: common, rules: credentialRenewalRules });
    addRole(this, { name: grantRoles.hubNamespace, labels: common, rules: hubNamespaceRules });
    addRole(this, { name: grantRoles.hubSource, labels: common, rules: hubSourceRules });
  }

  private addHubRights(system: string, opened: readonly string[]): void {
    const subjects = [{ kind: 'ServiceAccount', name: hubNames.serviceAccount, namespace: system }];
    addObject(this, 'service-account', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: hubNames.serviceAccount, namespace: system, labels: common },
    });
    const clusterRole = { kind: 'ClusterRole', name: hubNames.role };
    addRole(this, { name: hubNames.role, labels: common, rules: hubClusterRules });
    addBinding(this, { name: hubNames.role, labels: common, roleRef: clusterRole, subjects });
    addRole(this, { name: hubNames.role, namespace: system, labels: common, rules: hubSystemRules });
    addBinding(this, {
      name: hubNames.role,
      namespace: system,
      labels: common,
      roleRef: { kind: 'Role', name: hubNames.role },
      subjects,
    });
    for (const namespace of new Set(opened)) {
      addBinding(this, {
        name: hubNames.namespaceBinding,
        namespace,
        labels: common,
        roleRef: { kind: 'ClusterRole', name: grantRoles.hubNamespace },
        subjects,
      });
    }
  }

  /** Namespace, accounts and rights of the agent of the hub's own cluster; the hub adds the rest when it runs. */
  private addLocalAgent(
    system: string,
    { namespace, agentNamespace }: { namespace: string; agentNamespace: string },
    image: string,
  ): void {
    const given = synthAgent({ namespace: agentNamespace, image }).filter(isGiven);
    for (const object of given) {
      const { apiVersion, kind, metadata, ...rest } = object;
      addObject(this, `local-agent:${kind}:${metadata.name ?? ''}`, { apiVersion, kind, metadata, ...rest });
    }
    const subjects = [{ kind: 'ServiceAccount', name: hubNames.serviceAccount, namespace: system }];
    for (const [name, where, rules] of [
      [hubNames.localAgent, agentNamespace, localAgentRules],
      [hubNames.bootstrap, namespace, bootstrapRules],
    ] as const) {
      addRole(this, { name, namespace: where, labels: common, rules });
      addBinding(this, { name, namespace: where, labels: common, roleRef: { kind: 'Role', name }, subjects });
    }
  }

  private addConfig(namespace: string, config: HubConfig): void {
    addObject(this, 'config', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: configMapNames.hub,
        namespace,
        labels: common,
        // A running hub takes a change only from its own version, so that an upgrade restarts it first.
        annotations: { [annotations.version]: version },
      },
      data: { [configKey]: formatHubConfig(config) },
    });
  }
}

/** Throws INVALID_ARGUMENT for a certificate authority that no agent could use. */
function hubConfig({ config, image }: HubProps): HubConfig {
  const { agentImage = image, apiServerCA = '' } = config;
  if (apiServerCA === '') return { ...config, agentImage };
  const encoded = apiServerCA.includes(pemHead) ? Buffer.from(apiServerCA).toString('base64') : apiServerCA;
  if (!Buffer.from(encoded, 'base64').toString().includes(pemHead))
    throw new MusterError('INVALID_ARGUMENT', 'holds no certificate', {
      where: 'config.apiServerCA',
      hint: 'Give the certificates in PEM, as text or in base64.',
    });
  return { ...config, agentImage, apiServerCA: encoded };
}
