/** `ClusterRegistrationToken`: a token, and the values that an agent registers with. */
import { z } from 'zod';
import { clusterRegistrationTokenSpec } from '../../api/fleet/cluster-registration-token.ts';
import { annotations, apiVersion, defaults, secretKeys, secretTypes } from '../../api/fleet/constants.ts';
import { ClusterRegistrationTokens } from '../../api/fleet/kinds.ts';
import type { ClusterRegistrationToken } from '../../api/fleet/kinds.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import type { KubeObject } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { awaitGone } from '../await-gone.ts';
import { wantedMetadata } from '../fleet-object.ts';
import type { CallContext } from '../handler.ts';
import { common, metadata } from '../inputs.ts';
import { simpleHandler } from '../simple-object.ts';
import { awaitIssued } from './token-await.ts';

const tokenInputs = z.strictObject({
  ...common,
  metadata,
  ttl: clusterRegistrationTokenSpec.shape.ttl.unwrap().unwrap().optional(),
  renew: z.boolean(),
  oneUse: z.boolean().optional(),
});
export type TokenInputs = z.infer<typeof tokenInputs>;

/** What the hub has issued. */
export interface IssuedToken {
  /** RFC 3339; empty: never. */
  readonly expires: string;
  readonly expired: boolean;
  readonly secretName: string;
  /** A secret. */
  readonly values: string;
}

export const clusterRegistrationToken = simpleHandler<TokenInputs, IssuedToken, ClusterRegistrationToken>({
  kind: 'ClusterRegistrationToken',
  type: ClusterRegistrationTokens,
  schema: tokenInputs,
  namespace: defaults.defaultNamespace,
  fields: ['ttl', 'renew', 'oneUse'],
  answers: ['expires', 'expired', 'secretName', 'values'],

  defaults(news) {
    // A token that was used is over as it should be.
    return { renew: news['oneUse'] !== true };
  },

  object(inputs) {
    return {
      apiVersion,
      kind: 'ClusterRegistrationToken',
      metadata: inputs.oneUse ? forOneUse(wantedMetadata(inputs)) : wantedMetadata(inputs),
      spec: inputs.ttl === undefined ? {} : { ttl: inputs.ttl },
    };
  },

  observed(declared, { spec }) {
    return { ttl: declared.ttl === undefined ? undefined : (spec?.ttl ?? undefined) };
  },

  answer(found, olds) {
    const expires = found?.status?.expires ?? '';
    return {
      expires,
      expired: expires !== '' && Date.parse(expires) <= Date.now(),
      secretName: found?.status?.secretName ?? '',
      values: olds?.values ?? '',
    };
  },

  settle: awaitIssued,

  async complete(client, token, answer, ask) {
    return { ...answer, values: (await readValues(client, token, ask)) ?? '' };
  },

  isStale: (olds, { renew }) => renew && hasExpired(olds),

  // The hub deletes a token when it expires or its one use is over; that is its state, not its loss.
  whenGone: (olds) => (olds.oneUse || hasExpired(olds) ? { ...olds, expired: true } : undefined),

  // Nothing but a wish to renew it brings a used token back.
  isOver: (olds, { oneUse, renew }) => oneUse === true && !renew && olds.expired,

  /** A token that has expired is removed first, because its life counts from its creation. */
  async prepare(client, found, olds, { metadata: key, renew }, { signal }) {
    const { uid } = found?.metadata ?? {};
    if (uid === undefined || !renew || !hasExpired(olds)) return found;
    await client.delete(ClusterRegistrationTokens, key, { signal, preconditions: { uid } });
    await awaitGone(client, ClusterRegistrationTokens, key, uid, { signal });
    await deleteValues(client, olds, { signal });
    return undefined;
  },

  afterDelete: deleteValues,
});

function forOneUse(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  return { ...metadata, annotations: { ...metadata.annotations, [annotations.oneUse]: 'true' } };
}

function hasExpired({ expires, expired }: IssuedToken): boolean {
  return expired || (expires !== '' && Date.parse(expires) <= Date.now());
}

/**
 * The values go with the token. The garbage collector would see to it, but it takes half a minute to learn of a kind that
 * has just been defined, and nobody should find the values of a dead token meanwhile.
 */
async function deleteValues(
  client: KubeClient,
  olds: TokenInputs & IssuedToken,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<void> {
  if (olds.secretName === '') return;
  const key = { namespace: olds.metadata.namespace, name: olds.secretName };
  const found = await client.find(Secrets, key, { signal });
  if (found?.type === secretTypes.registrationValues) await client.delete(Secrets, key, { signal });
}

async function readValues(
  client: KubeClient,
  token: ClusterRegistrationToken,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<string | undefined> {
  const name = token.status?.secretName;
  if (!name) return undefined;
  const secret = await client.find(Secrets, { namespace: token.metadata.namespace ?? '', name }, { signal });
  const values = secret?.data?.[secretKeys.values];
  return values === undefined ? undefined : Buffer.from(values, 'base64').toString();
}
