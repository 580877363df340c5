/** Sources and rules for tests of pure functions. */
import type { RegistrationRule, RegistrationRuleSpec } from '../../../../api/muster/kinds.ts';
import type { Registered } from '../registrar.ts';
import type { Source } from '../source.ts';
import { sourceKey } from '../source.ts';

export function aRule(
  name: string,
  spec: Partial<RegistrationRuleSpec> = {},
  metadata: RegistrationRule['metadata'] = {},
): RegistrationRule {
  return {
    apiVersion: 'muster.dev/v1alpha1',
    kind: 'RegistrationRule',
    metadata: { name, uid: `rule-${name}`, creationTimestamp: '2026-01-01T00:00:00Z', generation: 1, ...metadata },
    spec: { source: { clusterAPI: {} }, ...spec },
  };
}

export function aSource(name: string, more: Partial<Source> = {}): Source {
  const { kind = 'Cluster', namespace = 'team-a' } = more;
  const uid = more.uid ?? `uid-${name}`;
  return {
    key: sourceKey(kind, namespace, name),
    kind,
    namespace,
    name,
    uid,
    createdAt: '2026-01-01T00:00:00Z',
    labels: {},
    annotations: {},
    paused: false,
    object: { apiVersion: 'cluster.x-k8s.io/v1beta2', kind, metadata: { name, namespace, uid } },
    ...more,
  };
}

export function aRegistration(source: Source, more: Partial<Registered> = {}): Registered {
  return {
    key: `fleet-default/${source.name}`,
    rule: 'all',
    source: source.key,
    uid: source.uid,
    loss: { action: 'Detach', delayMs: 0, timeoutMs: 60_000 },
    paused: false,
    stage: 'registered',
    ...more,
  };
}
