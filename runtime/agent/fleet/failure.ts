/** Why the agent is not where it should be: one reason per cause, the same in /readyz, Events and logs. */
import { type ErrorCode, MusterError, type MusterErrorOptions, isMusterError } from '../../../api/errors.ts';
import { isApiError } from '../../kube/api-error.ts';

/** Reasons of Events (CamelCase, as Kubernetes has them). Each is explained in runtime/agent/README.md. */
export type FailureReason =
  | 'BootstrapMissing'
  | 'BootstrapInvalid'
  | 'BootstrapChanged'
  | 'ConfigInvalid'
  | 'HubUnreachable'
  | 'HubUntrusted'
  | 'HubNotKubernetes'
  | 'HubBusy'
  | 'HubRefused'
  | 'TokenRejected'
  | 'TokenForbidden'
  | 'WorkspaceMissing'
  | 'RequestInvalid'
  | 'NotGranted'
  | 'AnswerInvalid'
  | 'CredentialInvalid'
  | 'CredentialRejected'
  | 'CredentialForbidden'
  | 'ClusterMissing'
  | 'RenewalFailed'
  | 'EdgeUnavailable'
  | 'Internal';

/** A MusterError that says which step of the agent's life failed. */
export class AgentError extends MusterError {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, code: ErrorCode, message: string, options: MusterErrorOptions = {}) {
    super(code, message, options);
    this.reason = reason;
  }
}

/** True for an AgentError with one of `reasons`; any reason when none is given. */
export function isAgentError(error: unknown, ...reasons: FailureReason[]): error is AgentError {
  return error instanceof AgentError && (reasons.length === 0 || reasons.includes(error.reason));
}

/** Whom the agent was talking to, and as whom. */
export type Step = 'edge' | 'request' | 'answer' | 'heartbeat' | 'renewal';

/** Any error as an AgentError; `where` is the address of the server that was called. */
export function toAgentError(error: unknown, step: Step, where: string): AgentError {
  if (isAgentError(error)) return error;
  const cause = { where, cause: error };
  if (step === 'edge') {
    return new AgentError(
      'EdgeUnavailable',
      codeOf(error),
      `the agent's own cluster did not do as asked: ${text(error)}`,
      {
        ...cause,
        hint: "The agent tries again. If it is about permissions, compare the agent's ClusterRole with the synthesized one.",
        retryable: true,
      },
    );
  }
  return transportError(error, where) ?? apiError(error, step, where) ?? unknownError(error, where);
}

function transportError(error: unknown, where: string): AgentError | undefined {
  const cause = { where, cause: error, retryable: true };
  if (isMusterError(error, 'UNREACHABLE', 'TIMEOUT')) {
    return new AgentError('HubUnreachable', error.code, `the hub cannot be reached: ${error.message}`, {
      ...cause,
      hint: 'Check that this address is reachable from the pod network, and HTTPS_PROXY if a proxy is needed.',
    });
  }
  if (isMusterError(error, 'TLS_UNTRUSTED')) {
    return new AgentError('HubUntrusted', 'TLS_UNTRUSTED', `the hub's certificate is not trusted: ${error.message}`, {
      ...cause,
      hint: 'Give the CA that signed it as apiServerCA, and see agentTLSMode: strict trusts nothing else.',
    });
  }
  if (isMusterError(error, 'NOT_KUBERNETES')) {
    return new AgentError('HubNotKubernetes', error.code, `what answers is no Kubernetes API: ${error.message}`, {
      ...cause,
      hint: 'apiServerURL must be the address of the API server itself; a login page or load balancer answered.',
    });
  }
  return undefined;
}

/** What a refusal means depends on the credential it was for. */
function apiError(error: unknown, step: Exclude<Step, 'edge'>, where: string): AgentError | undefined {
  if (!isApiError(error)) return undefined;
  const cause = { where, cause: error };
  if (error.status === 429 || error.status >= 500) {
    return new AgentError('HubBusy', 'UNREACHABLE', `the hub answered ${error.status}: ${error.message}`, {
      ...cause,
      hint: 'The agent tries again.',
      retryable: true,
    });
  }
  const known = refusals[step === 'answer' ? 'request' : step][error.status];
  if (known === undefined) {
    return new AgentError('HubRefused', 'INTERNAL', `the hub answered ${error.status}: ${error.message}`, cause);
  }
  // Messages of the answering Secret's GET would name it; that name is for who asked only.
  const detail = step === 'answer' ? '' : ` (${error.message})`;
  return new AgentError(known.reason, known.code, known.message + detail, { ...cause, hint: known.hint });
}

function unknownError(error: unknown, where: string): AgentError {
  if (isMusterError(error)) {
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    return new AgentError('Internal', error.code, error.message, {
      where: error.where ?? where,
      cause: error,
      ...hint,
    });
  }
  return new AgentError('Internal', 'INTERNAL', text(error), { where, cause: error });
}

interface Refusal {
  readonly reason: FailureReason;
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

const newBootstrap =
  'Make a new token on the hub and apply its Secret fleet-agent-bootstrap; the agent sees it at once.';

const refusals: Readonly<Record<'request' | 'heartbeat' | 'renewal', Readonly<Record<number, Refusal>>>> = {
  request: {
    401: {
      reason: 'TokenRejected',
      code: 'TOKEN_EXPIRED',
      message: 'the hub does not accept the bootstrap token: it expired or was revoked',
      hint: newBootstrap,
    },
    403: {
      reason: 'TokenForbidden',
      code: 'FORBIDDEN',
      message: 'the bootstrap token may not create a registration in this workspace',
      hint: 'Check that clusterNamespace is the namespace of the token, and that the hub has finished making its Role.',
    },
    404: {
      reason: 'WorkspaceMissing',
      code: 'NOT_FOUND',
      message: 'the hub has no such workspace, or does not know ClusterRegistrations',
      hint: 'Check clusterNamespace, and that apiServerURL is a hub with the CRDs of fleet.cattle.io installed.',
    },
    400: requestInvalid(),
    422: requestInvalid(),
  },
  heartbeat: {
    401: {
      reason: 'CredentialRejected',
      code: 'UNAUTHORIZED',
      message: 'the hub no longer accepts this cluster’s credential',
      hint: `The registration was removed or its token expired. ${newBootstrap}`,
    },
    403: {
      reason: 'CredentialForbidden',
      code: 'FORBIDDEN',
      message: 'the hub does not let this cluster report its status',
      hint: 'The Role of its registration is missing. The agent tries again; if it lasts, register anew.',
    },
    404: {
      reason: 'ClusterMissing',
      code: 'NOT_FOUND',
      message: 'the Cluster of this agent is not on the hub',
      hint: `It was deleted or moved. ${newBootstrap}`,
    },
  },
  renewal: {
    401: renewalRefused(),
    403: renewalRefused(),
    404: renewalRefused(),
  },
};

function requestInvalid(): Refusal {
  return {
    reason: 'RequestInvalid',
    code: 'INVALID_ARGUMENT',
    message: 'the hub refused the registration as invalid',
    hint: 'Check clientID and labels in ConfigMap fleet-agent.',
  };
}

function renewalRefused(): Refusal {
  return {
    reason: 'RenewalFailed',
    code: 'FORBIDDEN',
    message: 'the hub did not renew the token of this cluster',
    hint: 'The agent works until its token expires, and tries again. Check the hub’s conditions of this Cluster.',
  };
}

function codeOf(error: unknown): ErrorCode {
  if (isMusterError(error)) return error.code;
  return isApiError(error, 401, 403) ? 'FORBIDDEN' : 'UNREACHABLE';
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
