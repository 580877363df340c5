/** From any error to one line that tells a user what happened, where, and what to do. */
import { isMusterError, MusterError } from '../api/errors.ts';
import { isApiError, isNamespaceTerminating } from '../runtime/kube/api-error.ts';
import type { ApiError } from '../runtime/kube/api-error.ts';

/** `[CODE] where: message. Hint`, for errors of every kind. `where` names the resource, such as `Cluster a/b`. */
export function explain(error: unknown, where: string): string {
  if (isMusterError(error)) {
    const place = error.where === undefined || error.where.includes(where) ? error.where : `${where}: ${error.where}`;
    return new MusterError(error.code, error.message, {
      where: place ?? where,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    }).describe();
  }
  if (isApiError(error)) return fromApi(error, where).describe();
  if (error instanceof Error) return new MusterError('INTERNAL', error.message, { where }).describe();
  return new MusterError('INTERNAL', String(error), { where }).describe();
}

/** The refusals of an API server in our codes. */
function fromApi(error: ApiError, where: string): MusterError {
  const { message } = error;
  const terminating: boolean = isNamespaceTerminating(error as Error);
  if (terminating) {
    const hint = 'Wait until the namespace is gone, then run pulumi up again.';
    return new MusterError('CONFLICT', message, { where, hint, retryable: true });
  }
  switch (error.status) {
    case 401:
      return new MusterError('UNAUTHORIZED', message, {
        where,
        hint: 'The credential of the kubeconfig is not, or no longer, accepted by this cluster; give a new one.',
      });
    case 403:
      return new MusterError('FORBIDDEN', message, {
        where,
        hint: 'The kubeconfig reaches the cluster, but its user may not do this; grant the verb and resource named above.',
      });
    case 404:
      return new MusterError('NOT_FOUND', message, {
        where,
        hint: "If the kind itself is unknown, the hub's CustomResourceDefinitions are missing: declare a HubRelease and depend on it.",
      });
    case 409:
      return new MusterError('CONFLICT', message, { where, hint: 'Run pulumi up again.', retryable: true });
    case 422:
      return new MusterError('INVALID_ARGUMENT', message, { where });
    default:
      return new MusterError('INTERNAL', message, { where, retryable: error.status >= 500 || error.status === 429 });
  }
}
