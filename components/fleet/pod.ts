/** The Deployment that hub and agent share: security context, environment, probes, volumes, scheduling. */
import type { Construct } from 'constructs';
import { isLoopback } from '../../api/bind-address.ts';
import type { BindAddress } from '../../api/bind-address.ts';
import { durations } from '../../api/durations.ts';
import { addObject } from '../add-object.ts';
import { addSecretSource } from '../secrets/add-secret-source.ts';
import { bindAddressOf } from './bind-address.ts';
import { defaultPorts } from './names.ts';
import type { EnvVar, PullSecret, ResourceRequirements, Toleration, WorkloadProps } from './props.ts';

/** What differs between hub and agent. */
export interface WorkloadOptions {
  readonly name: string;
  /** On the Deployment; the pods carry `app` only, as in Fleet, because a selector cannot change later. */
  readonly labels: Readonly<Record<string, string>>;
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Already resolved for the cluster's registry. */
  readonly image: string;
  readonly command: readonly string[];
  /** Set by muster; `props.envVars` override by name. */
  readonly env: readonly EnvVar[];
  /** Whether the kubelet asks for health. Default: true. */
  readonly probes?: boolean;
  /** Names of the variables that move the endpoints. */
  readonly probeVariable: string;
  readonly metricsVariable: string;
  /** Used when `props.resources` is absent. */
  readonly resources: ResourceRequirements;
  readonly affinity?: Readonly<Record<string, unknown>>;
  readonly priorityClassName?: string;
  readonly podAnnotations?: Readonly<Record<string, string>>;
}

/** Fleet: tolerations of every agent. Nodes that still wait for their cloud provider, and Rancher's Windows clusters. */
const baseTolerations: readonly Toleration[] = [
  {
    key: 'node.cloudprovider.kubernetes.io/uninitialized',
    operator: 'Equal',
    value: 'true',
    effect: 'NoSchedule',
  },
  { key: 'cattle.io/os', operator: 'Equal', value: 'linux', effect: 'NoSchedule' },
];

/** As pods refer to it. */
interface NamedSecret {
  readonly name: string | undefined;
}

/** The Deployment as a construct, and what makes its pull Secrets. */
export function addDeployment(scope: Construct, options: WorkloadOptions, props: WorkloadProps): void {
  const pullSecrets = addPullSecrets(scope, options.namespace, props.imagePullSecrets ?? []);
  addObject(scope, 'deployment', deployment(options, props, pullSecrets));
}

/** Fields that Kubernetes would not store (empty, false) are left out. */
function deployment(options: WorkloadOptions, props: WorkloadProps, pullSecrets: readonly NamedSecret[]) {
  const { name, namespace, labels } = options;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: props.replicas ?? 1,
      selector: { matchLabels: { app: name } },
      strategy: strategy(props.hostNetwork === true),
      template: {
        metadata: {
          labels: { app: name },
          ...(options.podAnnotations === undefined ? {} : { annotations: options.podAnnotations }),
        },
        spec: podSpec(options, props, pullSecrets),
      },
    },
  };
}

function addPullSecrets(scope: Construct, namespace: string, secrets: readonly PullSecret[]): NamedSecret[] {
  return secrets.map((secret, index) => {
    if (typeof secret === 'string') return { name: secret };
    if (!('externalSecret' in secret) && !('sealedSecret' in secret)) return { name: secret.name };
    const where = `imagePullSecrets[${index}]`;
    // No default name: several may be made, and which one is which must not depend on their order.
    const wanted = { name: '', namespace, key: '.dockerconfigjson', type: 'kubernetes.io/dockerconfigjson', where };
    return { name: addSecretSource(scope, `pull-secret-${index}`, secret, wanted) };
  });
}

/**
 * Two pods on one node's network would want the same ports, so there the old one goes first. Otherwise Kubernetes'
 * defaults, spelled out: server-side apply removes on a change to Recreate only what it has set itself, and the API server
 * refuses the rest beside Recreate.
 */
function strategy(hostNetwork: boolean) {
  return hostNetwork
    ? { type: 'Recreate' }
    : { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } };
}

function podSpec(options: WorkloadOptions, props: WorkloadProps, given: readonly NamedSecret[]) {
  const pullSecrets = uniqueSorted(given);
  return {
    serviceAccountName: options.serviceAccount,
    // Said here because the namespace's default may be off, and without it the program has no identity.
    automountServiceAccountToken: true,
    ...(pullSecrets.length === 0 ? {} : { imagePullSecrets: pullSecrets }),
    ...(options.priorityClassName === undefined ? {} : { priorityClassName: options.priorityClassName }),
    ...(props.hostNetwork ? { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' } : {}),
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    ...(options.affinity === undefined ? {} : { affinity: options.affinity }),
    tolerations: uniqueSorted([...baseTolerations, ...(props.tolerations ?? [])]),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [container(options, props)],
    volumes: [
      { name: 'kube', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
    ],
  };
}

function container(options: WorkloadOptions, props: WorkloadProps) {
  const env = mergeEnv(options.env, props.envVars ?? []);
  const probe = bindAddressOf(env, options.probeVariable, defaultPorts.probe);
  const metrics = bindAddressOf(env, options.metricsVariable, defaultPorts.metrics);
  const ports = [
    ...(probe === undefined ? [] : [{ name: 'health', containerPort: probe.port, protocol: 'TCP' }]),
    ...(metrics === undefined ? [] : [{ name: 'metrics', containerPort: metrics.port, protocol: 'TCP' }]),
  ];
  return {
    name: options.name,
    image: options.image,
    ...(props.imagePullPolicy ? { imagePullPolicy: props.imagePullPolicy } : {}),
    command: [...options.command],
    env,
    ...(ports.length === 0 ? {} : { ports }),
    ...(options.probes === false ? {} : probes(probe, props.hostNetwork === true)),
    resources: props.resources ?? options.resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'kube', mountPath: '/.kube' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}

/** The kubelet asks at the pod's address, so an endpoint on loopback can be probed on the node's network only. */
function probes(address: BindAddress | undefined, hostNetwork: boolean) {
  if (address === undefined || (isLoopback(address) && !hostNetwork)) return {};
  const probe = (path: string, periodMs: number, failureThreshold: number) => ({
    httpGet: {
      path,
      port: address.port,
      scheme: 'HTTP',
      // `$(HOST_IP)` is put in by the kubelet in the environment only; a probe without a host goes to the pod's address.
      ...(address.host === undefined || address.host.includes('$(') ? {} : { host: address.host }),
    },
    periodSeconds: periodMs / 1000,
    timeoutSeconds: durations.probeTimeout / 1000,
    failureThreshold,
  });
  return {
    // A pod that is not ready is never restarted for it: an agent may wait for days for a hub that it cannot reach.
    readinessProbe: probe('/readyz', durations.probeReadiness, 3),
    livenessProbe: probe('/healthz', durations.probeLiveness, 6),
  };
}

/** The user's variables win by name, as the last of two equal names does in a container; server-side apply takes one. */
export function mergeEnv(own: readonly EnvVar[], given: readonly EnvVar[]): EnvVar[] {
  const merged = new Map<string, EnvVar>(own.map((variable) => [variable.name, variable]));
  for (const variable of inStableOrder(given)) merged.set(variable.name, variable);
  // Kubernetes does not store an empty value; writing it would look like a difference for ever.
  return [...merged.values()].map(({ value, ...rest }) => withVersion(value ? { ...rest, value } : rest));
}

/** Kubernetes' default, said because it compares a `fieldRef` as a whole: two ways to apply would be in conflict. */
function withVersion(variable: EnvVar): EnvVar {
  const { fieldRef } = (variable.valueFrom ?? {}) as { fieldRef?: Readonly<Record<string, unknown>> };
  if (fieldRef === undefined) return variable;
  return { ...variable, valueFrom: { ...variable.valueFrom, fieldRef: { apiVersion: 'v1', ...fieldRef } } };
}

/** Order matters only where one variable refers to another by `$(NAME)`. */
function inStableOrder(variables: readonly EnvVar[]): readonly EnvVar[] {
  if (variables.some(({ value }) => value?.includes('$('))) return variables;
  const last = new Map(variables.map((variable) => [variable.name, variable]));
  return [...last.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Each entry once, in the order of its JSON with sorted keys. */
function uniqueSorted<T extends object>(items: readonly T[]): T[] {
  const canonical = items.map((item) => {
    const entries = Object.entries(item).filter(([, value]) => value !== undefined && value !== '');
    return JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))));
  });
  return [...new Set(canonical)].sort().map((text) => JSON.parse(text) as T);
}
