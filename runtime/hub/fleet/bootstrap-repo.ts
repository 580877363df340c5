/** GitRepo `bootstrap` beside Cluster `local`: where a hub that was just installed finds what it is to manage. */
import { createHash } from 'node:crypto';
import { annotations, labels, managedByMuster } from '../../../api/fleet/constants.ts';
import type { GitRepo } from '../../../api/fleet/kinds.ts';
import { GitRepos } from '../../../api/fleet/kinds.ts';
import type { LocalBootstrap } from '../../../components/fleet/local-agent.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager, managedLabels } from './context.ts';
import { deleteSame } from './delete-same.ts';

const name = 'bootstrap';

/**
 * As the Cluster: written when the configuration changes and not otherwise, so that what a user changes stays until then.
 * Goes when the configuration names no repository any more; one that somebody else made of this name is left alone.
 */
export async function ensureRepo(
  { client }: Pick<HubContext, 'client'>,
  { namespace, repo }: Pick<LocalBootstrap, 'namespace' | 'repo'>,
  signal: AbortSignal,
): Promise<void> {
  const found = await client.find(GitRepos, { namespace, name }, { signal });
  const ours = found === undefined || found.metadata.labels?.[labels.managedBy] === managedByMuster;
  if (!ours) return;
  if (repo === undefined) {
    if (found !== undefined) await deleteSame(client, GitRepos, found, signal);
    return;
  }
  const { paths, ...rest } = repo;
  const spec = { ...rest, ...(paths === undefined ? {} : { paths: [...paths] }) };
  const hash = createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 32);
  if (found?.metadata.annotations?.[annotations.appliedHash] === hash) return;
  const wanted: GitRepo = {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'GitRepo',
    metadata: { namespace, name, labels: { ...managedLabels }, annotations: { [annotations.appliedHash]: hash } },
    spec,
  };
  await client.apply(GitRepos, wanted, { fieldManager: `${hubFieldManager}-bootstrap`, signal });
}
