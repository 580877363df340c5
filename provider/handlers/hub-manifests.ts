/** The manifests that the inputs of a hub mean. Loads no schema. */
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import { given } from '../../api/given.ts';
import type { KubeObject } from '../../api/resource.ts';
import { synthCrds, synthHub } from '../../components/fleet/index.ts';
import type { HubProps } from '../../components/fleet/index.ts';
import type { HubFields } from './hub-inputs.ts';

/** Always the same, and by far the most work. */
let definitions: KubeObject[] | undefined;

/** Everything to apply, definitions first. */
export function hubManifests(inputs: HubFields): KubeObject[] {
  const { image, namespace, config, workspaces } = inputs;
  const { envVars, tolerations, resources, hostNetwork, imagePullPolicy, imagePullSecrets, replicas } = inputs;
  const props = {
    image,
    namespace,
    config: config as HubConfig,
    ...given({
      workspaces,
      envVars,
      tolerations,
      resources,
      hostNetwork,
      imagePullPolicy,
      imagePullSecrets,
      replicas,
    }),
  } as HubProps;
  definitions ??= synthCrds();
  return [...definitions, ...synthHub(props)];
}
