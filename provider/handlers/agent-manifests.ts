/** The manifests that the inputs of an agent mean. Loads no schema. */
import { parseValues } from '../../api/fleet/bootstrap-values.ts';
import { defaults } from '../../api/fleet/constants.ts';
import { given } from '../../api/given.ts';
import type { KubeObject } from '../../api/resource.ts';
import { synthAgent } from '../../components/fleet/index.ts';
import type { AgentProps } from '../../components/fleet/index.ts';
import type { AgentFields } from './agent-inputs.ts';

type Manifest = Omit<AgentFields, 'values' | 'deploysWorkloads'> & { deploysWorkloads?: boolean | undefined };

/** The agent's manifests; with `values` the Secret with the token is among them. */
export function agentManifests(inputs: Manifest, values?: string): KubeObject[] {
  const { image, imagePullPolicy, imagePullSecrets, replicas, clientID, labels } = inputs;
  const { checkinInterval, agentTLSMode, deploysWorkloads } = inputs;
  const { namespace = defaults.agentNamespace, ...settings } = inputs.agentSettings ?? {};
  const props = given({
    ...settings,
    namespace,
    // As the hub does for `spec.agentNamespace`: an agent in a namespace of its own keeps to its own releases.
    agentScope: inputs.agentSettings?.namespace,
    image,
    imagePullPolicy,
    imagePullSecrets: imagePullSecrets ?? settings.imagePullSecrets,
    replicas,
    clientID,
    labels,
    checkinInterval,
    agentTLSMode,
    program: inputs.program,
    systemDefaultRegistry: inputs.systemDefaultRegistry,
    garbageCollectionInterval: inputs.garbageCollectionInterval,
    workers: inputs.workers,
    redeployGeneration: inputs.redeploy,
    deploysWorkloads,
    bootstrap: values === undefined ? undefined : parseValues(values),
  });
  return synthAgent(props as unknown as AgentProps);
}
