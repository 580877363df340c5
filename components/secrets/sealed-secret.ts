/** SealedSecret of Sealed Secrets (bitnami.com/v1alpha1): passed through, never made here. */
import type { Construct } from 'constructs';
import { MusterError } from '../../api/errors.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { addObject } from '../add-object.ts';
import type { WantedSecret } from './add-secret-source.ts';
import { SealedSecrets } from './kinds.ts';

/** What `kubeseal` prints. */
export interface SealedSecretObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly encryptedData: Readonly<Record<string, string>>;
    readonly template?: Readonly<Record<string, unknown>>;
  };
}

/** Value `true`: the object can be unsealed in any namespace (Sealed Secrets: scopes). */
const clusterWide = 'sealedsecrets.bitnami.com/cluster-wide';

/**
 * Adds the object as it is. Its name, namespace and key are part of what was sealed, so that only a check is possible.
 * Throws INVALID_ARGUMENT for another kind, a key that is missing, and a namespace that the cluster could not unseal it in.
 */
export function addSealedSecret(
  scope: Construct,
  id: string,
  sealed: SealedSecretObject,
  { namespace, key, extract, where: prop }: WantedSecret,
): void {
  const where = `${prop}.sealedSecret`;
  const { apiVersion, kind, metadata, spec } = sealed;
  if (apiVersion !== apiVersionOf(SealedSecrets) || kind !== SealedSecrets.kind)
    throw new MusterError('INVALID_ARGUMENT', `is ${kind} of ${apiVersion}, not a SealedSecret`, {
      where,
      hint: 'Give what kubeseal printed, with --format yaml or json.',
    });
  const keys = Object.keys(spec?.encryptedData ?? {});
  if (keys.length === 0 || (!extract && key !== undefined && !keys.includes(key)))
    throw new MusterError('INVALID_ARGUMENT', `has no key ${key ?? 'at all'} in spec.encryptedData`, {
      where,
      hint: `Seal a Secret with the key ${key ?? 'that its reader needs'}; keys cannot be renamed afterwards.`,
    });
  const isWide = metadata.annotations?.[clusterWide] === 'true';
  if (metadata.namespace === undefined && !isWide)
    throw new MusterError('INVALID_ARGUMENT', 'names no namespace', {
      where,
      hint: `Seal it for namespace ${namespace}: kubeseal --namespace ${namespace}.`,
    });
  addObject(scope, id, { ...sealed, metadata: { ...metadata, namespace } });
}
