/** Two hubs on one set of objects undo each other's work: ours is not installed where one of Rancher Fleet is. */
import { annotations, configMapNames, labels } from '../../api/fleet/constants.ts';
import { MusterError } from '../../api/errors.ts';
import { ConfigMaps } from '../../api/kubernetes/core.ts';
import { Deployments } from '../../api/kubernetes/workloads.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import { isForbidden } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { CallContext } from '../handler.ts';

/** Fleet: Deployment of its hub. */
const fleetDeployment = 'fleet-controller';

/**
 * Its kinds are the cluster's, so it counts in whatever namespace it runs; its ConfigMap is the one that ours would
 * write. Definitions alone are no hub: they stay behind, and are used.
 * @throws MusterError ALREADY_OWNED naming what was found
 */
export async function refuseFleet(
  client: KubeClient,
  namespace: string,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<void> {
  const hint = 'Use it as it is: leave out HubRelease and declare clusters and tokens against it.';
  const running = await findDeployment(client, namespace, signal);
  if (running !== undefined) throw refusal(Deployments, running, 'the hub of Rancher Fleet runs here', hint);
  const config = await client.find(ConfigMaps, { namespace, name: configMapNames.hub }, { signal });
  if (config === undefined || isOfMuster(config)) return;
  throw refusal(
    ConfigMaps,
    config,
    'it is the configuration of another hub',
    `${hint} If that hub is gone for good, remove its configuration: kubectl delete configmap ${configMapNames.hub} -n ${namespace}`,
  );
}

function refusal(type: ResourceType, object: KubeObject, message: string, hint: string): MusterError {
  return new MusterError('ALREADY_OWNED', message, { where: `${type.kind} ${keyOf(object)}`, hint });
}

function isOfMuster({ metadata }: KubeObject): boolean {
  return metadata.labels?.[labels.managedBy] === 'muster' || metadata.annotations?.[annotations.owner] !== undefined;
}

async function findDeployment(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    const fieldSelector = `metadata.name=${fleetDeployment}`;
    return (await client.list(Deployments, { fieldSelector, signal })).items[0];
  } catch (error) {
    // Whoever installs a hub may usually look everywhere; who may not still sees the namespace of the hub.
    if (!isForbidden(error)) throw error;
    return client.find(Deployments, { namespace, name: fleetDeployment }, { signal });
  }
}
