/** ExternalSecret of External Secrets (external-secrets.io/v1), for one Secret that a construct needs. */
import type { Construct } from 'constructs';
import { MusterError } from '../../api/errors.ts';
import { labels, managedByMuster } from '../../api/fleet/constants.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { addObject } from '../add-object.ts';
import type { WantedSecret } from './add-secret-source.ts';
import { ExternalSecrets } from './kinds.ts';

/** What to fetch, and from where. */
export interface ExternalSecretProps {
  /** The store that exists in the cluster. `kind` is `SecretStore` (default; of the same namespace) or `ClusterSecretStore`. */
  readonly secretStoreRef: { readonly name: string; readonly kind?: 'SecretStore' | 'ClusterSecretStore' };
  /** The entry in the store: its key (path), and optionally one property of it and a version. */
  readonly remoteRef: { readonly key: string; readonly property?: string; readonly version?: string };
  /**
   * False: the entry is the value of the one key that the Secret must have. True: the entry is an object, and each of its
   * properties becomes a key of the Secret. Default: what fits the use; each prop says so.
   */
  readonly extract?: boolean;
  /** Name of the Secret that is made, and of the ExternalSecret. Default: what each prop says. */
  readonly name?: string;
  /** How often the store is asked, a Go duration; `0` only once. Default: `1h`. */
  readonly refreshInterval?: string;
}

/**
 * The ExternalSecret, with the name of the Secret that it makes. The Secret goes with it (creationPolicy Owner), and
 * takes its labels. Throws INVALID_ARGUMENT for props that External Secrets would refuse.
 */
export function addExternalSecret(
  scope: Construct,
  id: string,
  props: ExternalSecretProps,
  { name, namespace, key, extract, type, where }: WantedSecret,
): void {
  const problem = problemOf(props, (props.extract ?? extract ?? false) ? undefined : (key ?? ''));
  if (problem !== undefined)
    throw new MusterError('INVALID_ARGUMENT', problem.message, { where: `${where}.externalSecret${problem.field}` });
  const { secretStoreRef, remoteRef, refreshInterval = '1h' } = props;
  const { property, version } = remoteRef;
  const remote = {
    key: remoteRef.key,
    ...(property === undefined ? {} : { property }),
    ...(version === undefined ? {} : { version }),
  };
  addObject(scope, id, {
    apiVersion: apiVersionOf(ExternalSecrets),
    kind: ExternalSecrets.kind,
    metadata: { name, namespace, labels: { [labels.managedBy]: managedByMuster } },
    spec: {
      refreshInterval,
      secretStoreRef: { name: secretStoreRef.name, kind: secretStoreRef.kind ?? 'SecretStore' },
      target: {
        name,
        creationPolicy: 'Owner',
        ...(type === undefined ? {} : { template: { type } }),
      },
      ...((props.extract ?? extract)
        ? { dataFrom: [{ extract: remote }] }
        : { data: [{ secretKey: key, remoteRef: remote }] }),
    },
  });
}

/** What is missing, for props from YAML as well. */
function problemOf(
  props: ExternalSecretProps,
  key: string | undefined,
): { field: string; message: string } | undefined {
  const { secretStoreRef, remoteRef } = props as Partial<ExternalSecretProps>;
  if (!secretStoreRef?.name) return { field: '.secretStoreRef.name', message: 'is missing' };
  if (!['SecretStore', 'ClusterSecretStore'].includes(secretStoreRef.kind ?? 'SecretStore'))
    return { field: '.secretStoreRef.kind', message: 'must be SecretStore or ClusterSecretStore' };
  if (!remoteRef?.key) return { field: '.remoteRef.key', message: 'is missing' };
  if (key === '') return { field: '.extract', message: 'must be true here: the Secret has more than one key' };
  return undefined;
}
