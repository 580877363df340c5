/** Publishing clusters beside the hub: what `runHub` adds for it. */
import type { Namespace } from '../../../api/kubernetes/core.ts';
import type { ClusterProfile } from '../../../api/multicluster/kinds.ts';
import type { Cache } from '../../kube/cache.ts';
import type { Manager } from '../../kube/manager.ts';
import type { OptionalCache } from '../../kube/optional-cache.ts';
import type { HubContext } from '../fleet/context.ts';
import type { EdgeCleaner } from '../fleet/edge-cleaner.ts';
import type { EdgeClients } from '../fleet/edge-clients.ts';
import { createArgoCDCleaner } from './argocd-cleaner.ts';
import type { ArgoCDWork } from './argocd-controller.ts';
import { createArgoCDController } from './argocd-controller.ts';
import { createArgoCDPublisher } from './argocd-publisher.ts';
import { createProfileController } from './profile-controller.ts';

/** Returns what has to be done in a cluster when its Cluster ends, before its agent goes. */
export function addInventory(
  manager: Manager,
  hub: HubContext,
  edges: EdgeClients,
  { workspaces, profiles }: { workspaces: Cache<Namespace>; profiles: OptionalCache<ClusterProfile> },
): EdgeCleaner {
  const work: ArgoCDWork = { hub, publisher: createArgoCDPublisher(hub, edges), busy: new Set() };
  manager.add(createProfileController(hub, profiles, workspaces));
  manager.add(createArgoCDController(work));
  return createArgoCDCleaner(work);
}
