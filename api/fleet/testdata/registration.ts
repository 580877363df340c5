/** Maximal objects of the kinds that take part in a registration. */
import { apiVersion } from '../constants.ts';
import type { Cluster, ClusterGroup, ClusterRegistration, ClusterRegistrationToken } from '../kinds.ts';
import { conditions, resourceCounts, selector, summary } from './shared.ts';

const nodeTerm = {
  matchExpressions: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64', 'arm64'] }],
  matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['node-1'] }],
};

const podTerm = {
  labelSelector: selector,
  matchLabelKeys: ['pod-template-hash'],
  mismatchLabelKeys: ['example.com/zone'],
  namespaceSelector: selector,
  namespaces: ['kube-system'],
  topologyKey: 'kubernetes.io/hostname',
};

const podAffinity = {
  preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: podTerm, weight: 10 }],
  requiredDuringSchedulingIgnoredDuringExecution: [podTerm],
};

export const cluster: Cluster = {
  apiVersion,
  kind: 'Cluster',
  metadata: { name: 'maximal', labels: { env: 'prod' } },
  spec: {
    paused: true,
    clientID: 'bd4c6f2a-0d55-4b5c-8f3e-1f0a6b6a1111',
    kubeConfigSecret: 'maximal-kubeconfig',
    kubeConfigSecretNamespace: 'fleet-default',
    redeployAgentGeneration: 7,
    agentNamespace: 'agents',
    agentEnvVars: [
      { name: 'HTTPS_PROXY', value: 'http://proxy.example:3128' },
      { name: 'FROM_CONFIG', valueFrom: { configMapKeyRef: { key: 'proxy', name: 'net', optional: true } } },
      { name: 'FROM_SECRET', valueFrom: { secretKeyRef: { key: 'proxy', name: 'net', optional: false } } },
      { name: 'FROM_FIELD', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
      {
        name: 'FROM_RESOURCE',
        valueFrom: { resourceFieldRef: { containerName: 'fleet-agent', divisor: '1Mi', resource: 'limits.memory' } },
      },
      {
        name: 'FROM_FILE',
        valueFrom: { fileKeyRef: { key: 'PROXY', optional: true, path: 'net.env', volumeName: 'settings' } },
      },
    ],
    agentTolerations: [
      { key: 'dedicated', operator: 'Equal', value: 'infra', effect: 'NoExecute', tolerationSeconds: 4_294_967_296 },
    ],
    agentAffinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ preference: nodeTerm, weight: 100 }],
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [nodeTerm] },
      },
      podAffinity,
      podAntiAffinity: podAffinity,
    },
    agentResources: {
      claims: [{ name: 'gpu', request: 'half' }],
      limits: { cpu: 2, memory: '256Mi' },
      requests: { cpu: '100m', memory: 67_108_864 },
    },
    agentSchedulingCustomization: {
      priorityClass: { value: 1000, preemptionPolicy: 'Never' },
      podDisruptionBudget: { minAvailable: '1', maxUnavailable: '0' },
    },
    agentPullSecrets: [{ name: 'pull' }],
    hostNetwork: true,
    privateRepoURL: 'registry.example/mirror',
    templateValues: { region: 'eu', nested: { list: [1, 2], nothing: null } },
  },
  status: {
    namespace: 'cluster-fleet-default-maximal-1a3d67d0a899',
    conditions,
    summary,
    resourceCounts,
    readyGitRepos: 1,
    desiredReadyGitRepos: 2,
    readyHelmOps: 3,
    desiredReadyHelmOps: 4,
    agent: { lastSeen: '2026-01-31T12:00:00Z', namespace: 'agents', kubernetesVersion: 'v1.35.2', nodes: 3 },
    display: { readyBundles: '6/28', state: 'ErrApplied' },
    agentDeployedGeneration: 7,
    agentConfigChanged: true,
    agentMigrated: true,
    agentNamespaceMigrated: true,
    cattleNamespaceMigrated: true,
    agentEnvVarsHash: 'aa',
    agentAffinityHash: 'bb',
    agentResourcesHash: 'cc',
    agentTolerationsHash: 'dd',
    agentSchedulingCustomizationHash: 'ee',
    agentPrivateRepoURL: 'registry.example/mirror',
    agentHostNetwork: true,
    agentTLSMode: 'strict',
    apiServerURL: 'https://hub.example:6443',
    apiServerCAHash: 'ff',
    garbageCollectionInterval: '15m0s',
    scheduled: true,
    activeSchedule: true,
  },
};

export const clusterRegistrationToken: ClusterRegistrationToken = {
  apiVersion,
  kind: 'ClusterRegistrationToken',
  metadata: { name: 'maximal' },
  spec: { ttl: '1h30m5.5s' },
  status: { expires: '2026-01-31T12:00:00Z', secretName: 'maximal', conditions },
};

export const clusterRegistration: ClusterRegistration = {
  apiVersion,
  kind: 'ClusterRegistration',
  metadata: { name: 'maximal', labels: { 'fleet.cattle.io/registration-token': '' } },
  spec: { clientID: 'id', clientRandom: 'random', clusterLabels: { env: 'prod', note: '' } },
  status: { clusterName: 'maximal', granted: true, conditions },
};

export const clusterGroup: ClusterGroup = {
  apiVersion,
  kind: 'ClusterGroup',
  metadata: { name: 'maximal' },
  spec: { selector },
  status: {
    clusterCount: 4,
    nonReadyClusterCount: 1,
    nonReadyClusters: ['east'],
    conditions,
    summary,
    resourceCounts,
    display: { readyClusters: '3/4', readyBundles: '6/28', state: 'NotReady' },
  },
};
