/** Fleet's kinds in the words of the engine. Pure. */
import { annotations, labels, rotatingCredential } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { importTokenName } from '../../../api/fleet/names.ts';
import { keyOf } from '../../../api/resource.ts';
import type { RegistrationRequest, RegistrationTarget } from '../../registration/types.ts';

/**
 * On a Cluster. `true`: once it is registered, no other registration is accepted. `false`: another agent with its clientID
 * may take over even while the present one reports. Without it: only when that one is silent.
 */
export const lockAnnotation = 'muster.dev/registration-locked';

/** A ClusterRegistration as a request. */
export function toRequest(request: ClusterRegistration): RegistrationRequest {
  return {
    key: keyOf(request),
    identity: request.spec?.clientID ?? '',
    createdAt: request.metadata.creationTimestamp ?? '',
    sequence: Number(request.metadata.resourceVersion ?? 0),
    granted: request.status?.granted === true,
    via: request.metadata.labels?.[labels.registrationToken],
  };
}

/** A Cluster as a target. One with a kubeconfig can be registered only by the agent that the hub installed there. */
export function toTarget(cluster: Cluster, registered: boolean, live: boolean): RegistrationTarget {
  const { name = '', labels: own = {}, annotations: notes = {}, deletionTimestamp } = cluster.metadata;
  return {
    key: keyOf(cluster),
    identity: cluster.spec?.clientID ?? '',
    managedElsewhere: labels.clusterManagement in own,
    deleting: deletionTimestamp !== undefined,
    locked: notes[lockAnnotation] === 'true',
    takeover: notes[lockAnnotation] === 'false',
    registered,
    live,
    onlyVia: cluster.spec?.kubeConfigSecret ? importTokenName(name) : undefined,
  };
}

/** Whether the agent behind the request renews its token itself. */
export function isRotating(request: ClusterRegistration): boolean {
  return request.metadata.annotations?.[annotations.credential] === rotatingCredential;
}
