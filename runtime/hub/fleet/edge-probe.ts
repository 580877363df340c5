/** A first look at a downstream cluster: is it one, does it let us in, and is it not the hub itself. */
import { reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { isMusterError } from '../../../api/errors.ts';
import { defaults } from '../../../api/fleet/constants.ts';
import { Namespaces } from '../../../api/kubernetes/core.ts';
import { isApiError, isForbidden, isUnauthorized } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { ImportFault } from './edge-kubeconfig.ts';

export interface EdgeFacts {
  /** UID of kube-system: which cluster this is. */
  readonly uid: string;
  /** Kubernetes version, for people. */
  readonly version: string;
}

/** Asks for version and identity. Throws ImportFault with what is wrong. */
export async function probeEdge(client: KubeClient, signal: AbortSignal): Promise<EdgeFacts> {
  const options = { signal, timeoutMs: durations.edgeRequest };
  try {
    const [version, namespace] = await Promise.all([
      client.raw('/version', options),
      client.get(Namespaces, { name: defaults.clientIdNamespace }, options),
    ]);
    const { gitVersion } = version as { gitVersion?: string };
    const { uid } = namespace.metadata;
    if (typeof gitVersion !== 'string' || uid === undefined) {
      throw new ImportFault(reasons.notKubernetes, `${client.server} does not answer like Kubernetes`, false);
    }
    return { uid, version: gitVersion };
  } catch (error) {
    throw explainEdgeError(error, client.server);
  }
}

/** An error of a downstream cluster as a fault of the import; others are passed on. */
export function explainEdgeError(error: unknown, server: string): unknown {
  if (error instanceof ImportFault) return error;
  if (isUnauthorized(error)) {
    const message = `${server} rejects the kubeconfig's credential; it may have expired, put a new one into the Secret`;
    return new ImportFault(reasons.clusterUnauthorized, message, false);
  }
  if (isForbidden(error)) {
    return new ImportFault(reasons.clusterForbidden, `${server} allows too little: ${error.message}`, false);
  }
  if (isApiError(error)) return new ImportFault(reasons.error, `${server}: ${error.message}`, false);
  if (!isMusterError(error)) return error;
  switch (error.code) {
    case 'UNREACHABLE':
      return new ImportFault(reasons.clusterUnreachable, error.describe(), false);
    case 'TLS_UNTRUSTED':
      return new ImportFault(reasons.clusterUntrusted, error.describe(), false);
    case 'NOT_KUBERNETES':
      return new ImportFault(reasons.notKubernetes, error.describe(), false);
    case 'TIMEOUT':
      return new ImportFault(reasons.timedOut, error.describe(), false);
    default:
      return new ImportFault(reasons.error, error.describe(), false);
  }
}
