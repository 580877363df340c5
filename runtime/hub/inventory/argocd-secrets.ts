/**
 * Secrets in Argo CD's namespace, written without the right to read there (decision 10). A JSON patch that only tests is
 * the proof that a Secret is ours: it is answered for such a Secret alone, and gives the UID that later calls insist on.
 */
import { reasons } from '../../../api/conditions.ts';
import { labels, managedByMuster } from '../../../api/fleet/constants.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { keyOf } from '../../../api/resource.ts';
import { argoCDClusterAnnotation } from '../../../components/fleet/argocd-names.ts';
import { isForbidden, isInvalid, isNotFound } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { hubFieldManager } from '../fleet/context.ts';
import { ImportFault } from '../fleet/edge-kubeconfig.ts';

/** Writes the Secret of a Cluster. Throws ImportFault when its name is taken or the hub may not write there. */
export async function keepArgoCDSecret(client: KubeClient, secret: Secret, signal: AbortSignal): Promise<void> {
  const { name = '', namespace = '', annotations } = secret.metadata;
  const key = { namespace, name };
  await explained(key, async () => {
    const uid = await proveOurs(client, key, annotations?.[argoCDClusterAnnotation] ?? '', signal);
    const wanted = uid === undefined ? secret : { ...secret, metadata: { ...secret.metadata, uid } };
    // without force, fields that anybody else has set are a conflict: one that was made this very moment is not taken over
    await client.apply(Secrets, wanted, { fieldManager: hubFieldManager, force: uid !== undefined, signal });
  });
}

/** Deletes the Secret of a Cluster; one that is not ours stays. Throws ImportFault when the hub may not do that there. */
export async function dropArgoCDSecret(
  client: KubeClient,
  place: Required<ObjectKey>,
  clusterKey: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await explained(place, async () => {
      const uid = await proveOurs(client, place, clusterKey, signal);
      if (uid !== undefined) await client.delete(Secrets, place, { preconditions: { uid }, signal });
    });
  } catch (error) {
    if (!(error instanceof ImportFault && error.reason === reasons.nameTaken)) throw error;
  }
}

/** UID of the Secret, `undefined` when there is none. Throws ImportFault when it is not this Cluster's. */
async function proveOurs(
  client: KubeClient,
  key: Required<ObjectKey>,
  clusterKey: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const at = (map: string, name: string): string =>
    `/metadata/${map}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const tests = [
    { op: 'test', path: at('labels', labels.managedBy), value: managedByMuster },
    { op: 'test', path: at('annotations', argoCDClusterAnnotation), value: clusterKey },
  ];
  try {
    const { metadata } = await client.patch(Secrets, key, tests, { type: 'json', signal });
    return metadata.uid;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (!isInvalid(error)) throw error;
    const message = `Secret ${keyOf(key)} exists and was not made for this Cluster; delete or rename it`;
    throw new ImportFault(reasons.nameTaken, message, false);
  }
}

async function explained(key: ObjectKey, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const message =
      `the hub may not keep or delete Secret ${keyOf(key)}: ${error.message}; apply the manifests that are made for a ` +
      'hub with this configuration of inventory.argoCD';
    throw new ImportFault(reasons.rightsMissing, message, false);
  }
}
