/** Secrets with a kubeconfig as sources. Pure; what is in them is read only when it is used. */
import type { Secret } from '../../../api/kubernetes/core.ts';
import { defaults } from '../../../api/muster/constants.ts';
import type { RegistrationRuleSpec } from '../../../api/muster/kinds.ts';
import type { SourceKubeconfig, Source } from './source.ts';
import { sourceBase } from './source.ts';

export function fromSecret(secret: Secret): Source {
  return { ...sourceBase('Secret', secret), paused: false, object: secret };
}

export function secretKubeconfig(
  { namespace, name }: Pick<Source, 'namespace' | 'name'>,
  { kubeconfigSecret }: RegistrationRuleSpec['source'],
): SourceKubeconfig {
  return { namespace, name, key: kubeconfigSecret?.key ?? defaults.kubeconfigKey };
}
