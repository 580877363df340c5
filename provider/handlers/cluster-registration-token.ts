/** Handler of `ClusterRegistrationToken`: a token, and the values that an agent registers with. */
import { z } from 'zod';
import { clusterRegistrationTokenSpec } from '../../api/fleet/cluster-registration-token.ts';
import { annotations, apiVersion, defaults, secretKeys, secretTypes } from '../../api/fleet/constants.ts';
import { ClusterRegistrationTokens } from '../../api/fleet/kinds.ts';
import type { ClusterRegistrationToken } from '../../api/fleet/kinds.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import type { KubeObject } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { awaitGone } from '../await-gone.ts';
import { deleteOwned } from '../delete-owned.ts';
import { hubOf } from '../configuration.ts';
import {
  changedInputs,
  fieldManager,
  metadataReplaces,
  observedMetadata,
  requireOwner,
  wantedMetadata,
} from '../fleet-object.ts';
import type { CallContext, Props, ResourceHandler } from '../handler.ts';
import { isOtherCluster } from '../identity.ts';
import { common, failuresOf, metadata, withoutNulls } from '../inputs.ts';
import { completeMetadata, isAutoName } from '../names.ts';
import { applyStep, resuming } from '../partial.ts';
import { isUnknown } from '../unknowns.ts';
import { awaitIssued } from './token-await.ts';

const tokenInputs = z.strictObject({
  ...common,
  metadata,
  ttl: clusterRegistrationTokenSpec.shape.ttl.unwrap().unwrap().optional(),
  renew: z.boolean(),
  oneUse: z.boolean().optional(),
});
export type TokenInputs = z.infer<typeof tokenInputs>;

/** Inputs, and what the hub answered. */
export interface TokenOutputs extends TokenInputs {
  readonly uid: string;
  readonly hubUID: string;
  /** RFC 3339; empty: never. */
  readonly expires: string;
  readonly expired: boolean;
  readonly secretName: string;
  /** A secret. */
  readonly values: string;
}

const updatable = ['ttl', 'renew', 'oneUse', 'hub', 'awaitReady', 'timeouts', 'owner'] as const;

export const clusterRegistrationToken: ResourceHandler<TokenInputs, TokenOutputs> = {
  kind: 'ClusterRegistrationToken',

  check(olds, given) {
    const news = withoutNulls(given);
    const inputs: Props = {
      awaitReady: true,
      // A token that was used is over as it should be.
      renew: news['oneUse'] !== true,
      ...news,
      metadata: completeMetadata(olds, news, defaults.defaultNamespace),
    };
    return { inputs, failures: failuresOf(tokenInputs, inputs) };
  },

  async diff(_id, olds, news, context) {
    const replaces = metadataReplaces(olds.metadata, news.metadata);
    const changed = changedInputs(olds, news, updatable);
    if (!isUnknown(news.metadata))
      changed.push(...changedInputs(olds.metadata, news.metadata, ['labels', 'annotations']));
    if (news.renew && hasExpired(olds)) changed.push('expired');
    if (await isOtherCluster(olds.hubUID, news.hub ?? context.configuration.hub, context)) replaces.push('hub');
    return {
      changes: changed.length + replaces.length > 0,
      replaces,
      deleteBeforeReplace: replaces.length > 0 && !isAutoName(news.metadata.name, news.resourceName),
    };
  },

  async create(inputs, context) {
    return { id: keyOf(inputs.metadata), outputs: await write(inputs, [inputs.owner], undefined, context) };
  },

  async read(_id, olds, context) {
    const { client, uid } = context.clients.get(hubOf(olds, context.configuration));
    const found = await client.find(ClusterRegistrationTokens, olds.metadata, context);
    // The hub deletes a token when it expires or its one use is over; that is its state, not its loss.
    if (found === undefined) return olds.oneUse || hasExpired(olds) ? { ...olds, expired: true } : undefined;
    if (found.metadata.deletionTimestamp !== undefined) return undefined;
    const live: TokenInputs = {
      ...olds,
      metadata: observedMetadata(olds.metadata, found),
      ttl: olds.ttl === undefined ? undefined : (found.spec?.ttl ?? undefined),
    };
    return observe(live, found, (await uid(context)) ?? olds.hubUID, await readValues(client, found, context));
  },

  async update(_id, olds, news, context) {
    // Nothing but a wish to renew it brings a used token back.
    if (news.oneUse && !news.renew && olds.expired) return { ...olds, ...news };
    return write(news, [news.owner, olds.owner], olds, context);
  },

  async delete(_id, olds, context) {
    const { client } = context.clients.get(hubOf(olds, context.configuration));
    if (await deleteOwned(client, ClusterRegistrationTokens, olds, context)) await deleteValues(client, olds, context);
  },

  inputsOf(outputs) {
    const { uid: _u, hubUID: _h, expires: _e, expired: _x, secretName: _s, values: _v, ...inputs } = outputs;
    return inputs;
  },
};

function forOneUse(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  return { ...metadata, annotations: { ...metadata.annotations, [annotations.oneUse]: 'true' } };
}

function hasExpired({ expires, expired }: TokenOutputs): boolean {
  return expired || (expires !== '' && Date.parse(expires) <= Date.now());
}

async function write(
  inputs: TokenInputs,
  owners: readonly string[],
  olds: TokenOutputs | undefined,
  context: CallContext,
): Promise<TokenOutputs> {
  const id = keyOf(inputs.metadata);
  const { client, uid } = context.clients.get(hubOf(inputs, context.configuration));
  const hubUID = (await uid(context)) ?? '';
  const existing = await findToRenew(client, inputs, owners, olds, context);
  const progress = resuming(id, observe(inputs, existing, hubUID, olds?.values));
  const object: ClusterRegistrationToken = {
    apiVersion,
    kind: 'ClusterRegistrationToken',
    metadata: inputs.oneUse ? forOneUse(wantedMetadata(inputs)) : wantedMetadata(inputs),
    spec: inputs.ttl === undefined ? {} : { ttl: inputs.ttl },
  };
  const { signal } = context;
  const applied = await applyStep(progress, () =>
    client.apply(ClusterRegistrationTokens, object, { fieldManager, signal }),
  );
  progress.outputs = observe(inputs, applied, hubUID, olds?.values);
  const issued = inputs.awaitReady ? await applyStep(progress, () => awaitIssued(client, applied, context)) : applied;
  const values = await applyStep(progress, () => readValues(client, issued, context));
  return observe(inputs, issued, hubUID, values);
}

/** The token that is there; one that has expired is removed first, because its life counts from its creation. */
async function findToRenew(
  client: KubeClient,
  { metadata: key, renew }: TokenInputs,
  owners: readonly string[],
  olds: TokenOutputs | undefined,
  context: CallContext,
): Promise<ClusterRegistrationToken | undefined> {
  const existing = await client.find(ClusterRegistrationTokens, key, context);
  if (olds === undefined || existing?.metadata.uid !== olds.uid) {
    requireOwner(ClusterRegistrationTokens, existing, owners);
  }
  const { uid } = existing?.metadata ?? {};
  if (uid === undefined || !renew || olds === undefined || !hasExpired(olds)) return existing;
  await client.delete(ClusterRegistrationTokens, key, { signal: context.signal, preconditions: { uid } });
  await awaitGone(client, ClusterRegistrationTokens, key, uid, context);
  await deleteValues(client, olds, context);
  return undefined;
}

/**
 * The values go with the token. The garbage collector would see to it, but it takes half a minute to learn of a kind that
 * has just been defined, and nobody should find the values of a dead token meanwhile.
 */
async function deleteValues(client: KubeClient, olds: TokenOutputs, { signal }: CallContext): Promise<void> {
  if (olds.secretName === '') return;
  const key = { namespace: olds.metadata.namespace, name: olds.secretName };
  const found = await client.find(Secrets, key, { signal });
  if (found?.type === secretTypes.registrationValues) await client.delete(Secrets, key, { signal });
}

async function readValues(
  client: KubeClient,
  token: ClusterRegistrationToken,
  context: CallContext,
): Promise<string | undefined> {
  const name = token.status?.secretName;
  if (!name) return undefined;
  const secret = await client.find(Secrets, { namespace: token.metadata.namespace ?? '', name }, context);
  const values = secret?.data?.[secretKeys.values];
  return values === undefined ? undefined : Buffer.from(values, 'base64').toString();
}

function observe(
  inputs: TokenInputs,
  found: ClusterRegistrationToken | undefined,
  hubUID: string,
  values: string | undefined,
): TokenOutputs {
  const expires = found?.status?.expires ?? '';
  return {
    ...inputs,
    uid: found?.metadata.uid ?? '',
    hubUID,
    expires,
    expired: expires !== '' && Date.parse(expires) <= Date.now(),
    secretName: found?.status?.secretName ?? '',
    values: values ?? '',
  };
}
