/**
 * What a cluster holds, by name: taken before a registration and after its removal, the difference is what was left.
 * Every listable kind of every group counts, so a forgotten ClusterRole is seen as well as a forgotten Secret.
 */
import type { KubeClient } from '../../runtime/kube/client.ts';

/** Kinds that come and go by themselves, and so say nothing about what somebody left. */
const selfMade = new Set([
  'events',
  'endpoints',
  'endpointslices',
  'componentstatuses',
  'nodes',
  'csinodes',
  'ipaddresses',
]);

/** Objects that the control plane makes when it first needs them, not when a registration does. */
function madeByControlPlane(plural: string, namespace: string | undefined): boolean {
  if (namespace === 'kube-node-lease') return true;
  return namespace === 'kube-system' && (plural === 'serviceaccounts' || plural === 'leases');
}

interface ApiResource {
  name: string;
  verbs: string[];
}

interface ObjectList {
  items: { metadata: { name: string; namespace?: string } }[];
}

async function groupVersions(client: KubeClient): Promise<string[]> {
  const groups = (await client.raw('/apis')) as { groups: { preferredVersion: { groupVersion: string } }[] };
  return ['/api/v1', ...groups.groups.map((group) => `/apis/${group.preferredVersion.groupVersion}`)];
}

async function listGroup(client: KubeClient, path: string): Promise<string[]> {
  const { resources } = (await client.raw(path)) as { resources: ApiResource[] };
  const listable = resources.filter(
    ({ name, verbs }) => !name.includes('/') && verbs.includes('list') && !selfMade.has(name),
  );
  const found = await Promise.all(
    listable.map(async ({ name }) => {
      const list = (await client.raw(`${path}/${name}`)) as ObjectList;
      return list.items
        .filter(({ metadata }) => !madeByControlPlane(name, metadata.namespace))
        .map(({ metadata }) => `${name} ${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name}`);
    }),
  );
  return found.flat();
}

/** Lines `plural [namespace/]name` of everything that the cluster holds. */
export async function takeInventory(client: KubeClient): Promise<Set<string>> {
  const lists = await Promise.all((await groupVersions(client)).map((path) => listGroup(client, path)));
  return new Set(lists.flat());
}

/** What stands in `after` and not in `before`, sorted. */
export function leftOver(before: ReadonlySet<string>, after: ReadonlySet<string>): string[] {
  return [...after].filter((line) => !before.has(line)).sort();
}
