/** A request that may have what it asks for gets it: its Cluster if there is none, then rights, credential and answer. */
import { reasons } from '../../../api/conditions.ts';
import { isMusterError } from '../../../api/errors.ts';
import { annotations, finalizers, labels } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { registrationLabels } from '../../../api/labels.ts';
import { keyOf } from '../../../api/resource.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import { carryOutGrant } from '../../registration/grant.ts';
import { livenessOf } from './cluster-liveness.ts';
import { ensureClusterNamespace } from './cluster-namespace.ts';
import { clusterStatus } from './cluster-status.ts';
import { isTold } from './cluster-view.ts';
import { needsContents } from './content-rights.ts';
import type { HubContext } from './context.ts';
import { ensureOptions, hubFieldManager, isManaged } from './context.ts';
import { issueFor } from './registration-credential.ts';
import { accountOf, answer, answerName, grantChecks, grantRights } from './registration-grant.ts';
import { readersFor } from './registration-readers.ts';
import { finish, tell } from './registration-report.ts';
import { isRotating } from './registration-request.ts';

/** `undefined` when another identity took the name meanwhile. */
export async function createCluster(
  context: HubContext,
  request: ClusterRegistration,
  name: string,
  signal: AbortSignal,
): Promise<Cluster | undefined> {
  const namespace = request.metadata.namespace ?? '';
  const ignore = context.config.current.ignoreClusterRegistrationLabels ?? false;
  const wanted: Cluster = {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'Cluster',
    metadata: {
      name,
      namespace,
      labels: { ...registrationLabels(request.spec?.clusterLabels, { ignore }), [labels.cluster]: name },
      annotations: { [annotations.requestedBy]: request.metadata.name ?? '' },
      finalizers: [finalizers.cluster],
    },
    spec: { clientID: request.spec?.clientID ?? '' },
  };
  try {
    const made = await context.client.create(Clusters, wanted, { signal, fieldManager: hubFieldManager });
    context.clusters.remember(made);
    return made;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await context.client.get(Clusters, { namespace, name }, { signal });
    context.clusters.remember(found);
    // taken meanwhile by another identity: the next look refuses it
    return found.spec?.clientID === request.spec?.clientID ? found : undefined;
  }
}

async function tellGranted(
  context: HubContext,
  cluster: Cluster,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const change = (current: Cluster) => {
    const liveness = livenessOf(context, current, Date.now());
    return clusterStatus(current, { namespace, registration: { state: 'granted' }, liveness }, new Date());
  };
  await context.clusterStatus.update(keyOf(cluster), change, signal);
}

/** Throws what the failing step threw, after the request has told of it; safe to repeat. */
export async function grant(
  context: HubContext,
  request: ClusterRegistration,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  try {
    const namespace = await ensureClusterNamespace(context, cluster, signal);
    const { registrationNamespace, systemNamespace } = context;
    const contents = needsContents(context, request, namespace.metadata.name ?? '');
    const scope = { request, cluster, namespace, registrationNamespace, systemNamespace, contents };
    const account = accountOf(scope);
    await carryOutGrant(
      context.client,
      {
        rights: [grantRights(scope)],
        // our agent tries again where an original one gives up, so for ours the proof is not worth a request
        checks: isRotating(request) ? [] : grantChecks(scope),
        issue: async (issueSignal) => {
          const [credential] = await Promise.all([
            issueFor(context, request, account, issueSignal ?? signal),
            // one that has a status is told with its agent's first report
            isTold(cluster) ? undefined : tellGranted(context, cluster, account.namespace, signal),
          ]);
          return credential;
        },
        publish: (credential) => {
          context.published.set(keyOf(request), Date.now());
          return answer(scope, credential);
        },
        // not earlier: an agent that may look and finds nothing has asked in vain
        show: readersFor(context, request, cluster).map(
          (reader) => () => context.readers.allow(reader, answerName(request)),
        ),
      },
      ensureOptions(signal, (object) => isManaged(object)),
    );
    await finish(context, request, cluster, signal);
  } catch (error) {
    if (isMusterError(error)) {
      const reason =
        error.code === 'ALREADY_OWNED'
          ? reasons.nameTaken
          : error.code === 'CONFLICT'
            ? reasons.waitingForNamespace
            : error.code === 'INVALID_ARGUMENT'
              ? reasons.invalidSpec
              : reasons.error;
      await tell(context, request, { outcome: 'wait', reason, message: error.describe() }, signal);
    }
    throw error;
  }
}
