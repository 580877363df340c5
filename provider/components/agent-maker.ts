/** From the arguments of an agent to its manifests. */
import type { z } from 'zod';
import { annotations, secretNames } from '../../api/fleet/constants.ts';
import type { KubeObject } from '../../api/resource.ts';
import { agentFields } from '../handlers/agent-inputs.ts';
import { agentManifests } from '../handlers/agent-manifests.ts';
import type { ManifestMaker } from './manifests-with-outputs.ts';

/** Of `AgentRelease`, but the token may come another way, and the constructs know when workloads are deployed. */
const fields = {
  ...agentFields,
  values: agentFields.values.optional(),
  deploysWorkloads: agentFields.deploysWorkloads.optional(),
};
type AgentInputs = z.infer<z.ZodObject<typeof fields>>;

/** How the arguments become manifests; the agent's settings stand in `agentSettings`, as in `AgentRelease`. */
export const agentMaker: ManifestMaker<AgentInputs> = {
  fields,
  make: (inputs) => agentManifests(inputs, inputs.values).map(keptBootstrap),
  plain: [
    'program',
    'systemDefaultRegistry',
    'deploysWorkloads',
    'agentSettings.namespace',
    'agentSettings.hostNetwork',
  ],
};

/** The Secret is declared, so it stays when it has served: the agent would remove it, and Pulumi make it again. */
function keptBootstrap(object: KubeObject): KubeObject {
  const { metadata } = object;
  if (object.kind !== 'Secret' || metadata.name !== secretNames.bootstrap) return object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.keep]: 'true' } } };
}
