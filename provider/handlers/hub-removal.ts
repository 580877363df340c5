/** What has to be true, and to be done, before a hub may go. */
import { MusterError } from '../../api/errors.ts';
import { labels } from '../../api/fleet/constants.ts';
import {
  BundleDeployments,
  BundleNamespaceMappings,
  Bundles,
  ClusterGroups,
  ClusterRegistrations,
  ClusterRegistrationTokens,
  Clusters,
  Contents,
  GitRepos,
} from '../../api/fleet/kinds.ts';
import { RegistrationRules } from '../../api/muster/kinds.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import { isNotFound } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { awaitGone } from '../await-gone.ts';
import type { CallContext } from '../handler.ts';
import type { ObjectName } from '../release-objects.ts';

/** Made by users: a hub that goes would take them along. */
const declared: readonly ResourceType[] = [
  // First of all: they would register clusters anew, and hold their sources.
  RegistrationRules,
  Clusters,
  GitRepos,
  Bundles,
  ClusterGroups,
  BundleNamespaceMappings,
];
/** Working objects: they mean nothing without a hub, and go with it. Tokens first, so that no request comes after. */
const working: readonly ResourceType[] = [ClusterRegistrationTokens, ClusterRegistrations];
const all: readonly ResourceType[] = [...declared, ...working, BundleDeployments, Contents];

/** How many objects an error names before it counts the rest. */
const named = 5;

/** @throws MusterError IN_USE naming what is still declared. */
export async function requireUnused(client: KubeClient, context: Pick<CallContext, 'signal'>): Promise<void> {
  const found: string[] = [];
  for (const type of declared) {
    for (const object of await listIfServed(client, type, context)) {
      if (object.metadata.labels?.[labels.managed] !== 'true') found.push(`${type.kind} ${keyOf(object)}`);
    }
  }
  if (found.length === 0) return;
  const more = found.length > named ? ` and ${found.length - named} more` : '';
  throw new MusterError('IN_USE', `the hub still holds ${found.slice(0, named).join(', ')}${more}`, {
    where: 'HubRelease',
    hint: 'Remove them first. To remove the hub with everything on it, set force to true, run pulumi up, then remove it.',
  });
}

/**
 * Deletes what the definitions' removal would otherwise wait for: while the hub runs, in its own way; with `force`, what
 * is then left loses its finalizers, because the hub that would answer them goes, too.
 */
export async function clearCustomObjects(
  client: KubeClient,
  release: { readonly force: boolean; readonly objects: readonly ObjectName[] },
  context: Pick<CallContext, 'signal'>,
): Promise<void> {
  if (!release.objects.some((name) => name.includes('/CustomResourceDefinition '))) return;
  const { signal } = context;
  for (const type of working) {
    const objects = await listIfServed(client, type, context);
    for (const object of objects) await client.delete(type, address(object), { signal });
    for (const object of objects) await awaitGone(client, type, address(object), object.metadata.uid, context);
  }
  if (!release.force) return;
  for (const type of all) {
    for (const object of await listIfServed(client, type, context)) {
      await client.delete(type, address(object), { signal });
      if (!object.metadata.finalizers?.length) continue;
      const patch = { metadata: { finalizers: null } };
      await client.patch(type, address(object), patch, { type: 'merge', signal }).catch(ignoreNotFound);
    }
  }
}

const address = ({ metadata: { namespace, name = '' } }: KubeObject): { namespace?: string; name: string } => ({
  ...(namespace === undefined ? {} : { namespace }),
  name,
});

/** Nothing where the definition itself is gone already. */
async function listIfServed(
  client: KubeClient,
  type: ResourceType,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<KubeObject[]> {
  try {
    return (await client.list(type, { signal })).items;
  } catch (error) {
    ignoreNotFound(error);
    return [];
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
