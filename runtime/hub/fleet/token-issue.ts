/** Issuing a token: its account with the right to ask, the bearer, and the values Secret that agents are installed with. */
import { createHash } from 'node:crypto';
import { MusterError } from '../../../api/errors.ts';
import { annotations } from '../../../api/fleet/constants.ts';
import type { ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { tokenServiceAccountName } from '../../../api/fleet/names.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { RoleBindings, Roles } from '../../../api/kubernetes/rbac.ts';
import { keyOf } from '../../../api/resource.ts';
import { isOwnedBy } from '../../kube/owner.ts';
import { ensureObject } from '../../registration/ensure.ts';
import type { HubContext } from './context.ts';
import { ensureOptions, hubFieldManager } from './context.ts';
import { tokenFor } from './token-credential.ts';
import { tokenObjects, tokenOfAnnotation, valuesOf, valuesSecret } from './token-objects.ts';
import { issuedStatus } from './token-report.ts';

/** Safe to repeat; costs no request when all is there and current. */
export async function issue(
  context: HubContext,
  token: ClusterRegistrationToken,
  expiresMs: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = token.metadata;
  const account = { namespace, name: tokenServiceAccountName({ name, uid }) };
  await context.secrets.whenOpen(namespace, signal);
  const known = context.serviceAccounts.get(keyOf(account));
  const current = context.secrets.get(`${namespace}/${name}`);
  if (known === undefined || !isCurrent(context, token, current, known.metadata.uid)) {
    const objects = tokenObjects(token, account);
    const options = ensureOptions(signal, (object) => isOwnedBy(object, token));
    const [serviceAccount] = await Promise.all([
      ensureObject(context.client, { type: ServiceAccounts, object: objects.serviceAccount }, options),
      ensureObject(context.client, { type: Roles, object: objects.role }, options),
      ensureObject(context.client, { type: RoleBindings, object: objects.roleBinding }, options),
    ]);
    context.serviceAccounts.remember(serviceAccount);
    const issued = { account, accountUid: serviceAccount.metadata.uid ?? '', expiresMs };
    await Promise.all([writeValues(context, token, issued, signal), context.readers.prepare(account)]);
  }
  const written = await context.tokenStatus.update(keyOf(token), (latest) => issuedStatus(latest, expiresMs), signal);
  // nobody looks at the Events of tokens that the hub makes for itself
  if (written !== undefined && written.before !== written.after && !isForOneCluster(token)) {
    context.events.event(token, 'Normal', 'Issued', `values for agents are in Secret ${name}`);
  }
}

/** Made by the hub for a Cluster, to which it belongs. */
function isForOneCluster({ metadata }: ClusterRegistrationToken): boolean {
  return (metadata.ownerReferences ?? []).some(({ kind }) => kind === Clusters.kind);
}

/** What the values say beside the token itself; part of the Secret's annotation, so that no reconcile has to read it. */
function revision(context: HubContext, token: ClusterRegistrationToken): string {
  const { token: _, ...rest } = valuesOf(context, token, '');
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 32);
}

function isCurrent(
  context: HubContext,
  token: ClusterRegistrationToken,
  secret: Secret | undefined,
  accountUid: string | undefined,
): boolean {
  const notes = secret?.metadata.annotations ?? {};
  return notes[annotations.appliedHash] === revision(context, token) && notes[tokenOfAnnotation] === accountUid;
}

async function writeValues(
  context: HubContext,
  token: ClusterRegistrationToken,
  issued: { account: { namespace: string; name: string }; accountUid: string; expiresMs: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '' } = token.metadata;
  const existing = await findValues(context, { namespace, name }, signal);
  if (existing !== undefined && !isOwnedBy(existing, token)) {
    throw new MusterError('ALREADY_OWNED', "a Secret of this name exists and is not the token's", {
      where: `Secret ${namespace}/${name}`,
      hint: 'Delete that Secret, or give the token another name.',
    });
  }
  const bearer = await tokenFor(context, token, issued, existing, signal);
  const secret = valuesSecret(token, valuesOf(context, token, bearer), {
    [annotations.appliedHash]: revision(context, token),
    [tokenOfAnnotation]: issued.accountUid,
  });
  const options = { signal, fieldManager: hubFieldManager };
  const stored =
    existing === undefined
      ? await context.client.create(Secrets, secret, options)
      : await context.client.apply(Secrets, secret, options);
  context.secrets.remember(stored);
}

/** No request when the Secrets of the namespace are known and it is not among them. */
async function findValues(
  context: HubContext,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<Secret | undefined> {
  if (context.secrets.isOpen(key.namespace) && context.secrets.get(keyOf(key)) === undefined) return undefined;
  return await context.client.find(Secrets, key, { signal });
}
