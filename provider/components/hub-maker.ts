/** From the arguments of a hub to its manifests. */
import { hubFields } from '../handlers/hub-inputs.ts';
import type { HubFields } from '../handlers/hub-inputs.ts';
import { hubManifests } from '../handlers/hub-manifests.ts';
import type { ManifestMaker } from './manifests-with-outputs.ts';

/** How the arguments become manifests. */
export const hubMaker: ManifestMaker<HubFields> = {
  fields: hubFields,
  make: hubManifests,
  plain: ['namespace', 'workspaces', 'hostNetwork', 'config.bootstrap', 'config.inventory'],
};
