/** RegistrationRules that together set every field: a rule has one source, so one object cannot. */
import { apiVersion } from '../../api/muster/constants.ts';
import type { RegistrationRule } from '../../api/muster/kinds.ts';
import { cluster } from '../../api/fleet/testdata/registration.ts';

const selector = {
  matchLabels: { env: 'prod' },
  matchExpressions: [{ key: 'tier', operator: 'In' as const, values: ['edge', 'store'] }],
};
const spec = cluster.spec;

const everything: Omit<RegistrationRule['spec'], 'source'> = {
  namespaceSelector: selector,
  selector,
  suspend: true,
  priority: 10,
  registration: {
    protocol: 'fleet',
    mode: 'Agent',
    workspace: 'fleet-default',
    name: '{namespace}-{name}',
    labels: { pass: ['env', 'topology.*'], set: { class: '{class}' } },
    annotations: { pass: ['example.com/owner'], set: { 'example.com/by': 'rule' } },
    agent: {
      namespace: spec?.agentNamespace,
      envVars: spec?.agentEnvVars,
      tolerations: spec?.agentTolerations,
      affinity: spec?.agentAffinity,
      resources: spec?.agentResources,
      schedulingCustomization: spec?.agentSchedulingCustomization,
      imagePullSecrets: spec?.agentPullSecrets,
      hostNetwork: true,
      privateRepoURL: 'registry.example/mirror',
    },
    token: { ttl: '12h' },
    groups: { by: 'Topology' },
  },
  onSourceDeleted: { action: 'Keep', delay: '5m', timeout: '90s' },
};

const rule = (name: string, source: RegistrationRule['spec']['source']): RegistrationRule => ({
  apiVersion,
  kind: 'RegistrationRule',
  metadata: { name },
  spec: { ...everything, source },
});

export const rules: readonly RegistrationRule[] = [
  rule('cluster-api', { clusterAPI: {} }),
  rule('secrets', { kubeconfigSecret: { key: 'config' } }),
  rule('profiles', { clusterProfile: { accessProvider: 'open-cluster-management' } }),
];
