import { describe, expect, it } from 'vitest';
import { MusterError } from '../../../api/errors.ts';
import { ApiError } from '../../kube/api-error.ts';
import { AgentError, type Step, toAgentError } from './failure.ts';

const api = (status: number): ApiError => new ApiError('GET /secrets/c-1234: no', { status, reason: '' });

describe('toAgentError', () => {
  it.each<[Step, Error, string, string]>([
    ['request', api(401), 'TokenRejected', 'TOKEN_EXPIRED'],
    ['request', api(403), 'TokenForbidden', 'FORBIDDEN'],
    ['request', api(404), 'WorkspaceMissing', 'NOT_FOUND'],
    ['request', api(422), 'RequestInvalid', 'INVALID_ARGUMENT'],
    ['answer', api(401), 'TokenRejected', 'TOKEN_EXPIRED'],
    ['heartbeat', api(401), 'CredentialRejected', 'UNAUTHORIZED'],
    ['heartbeat', api(403), 'CredentialForbidden', 'FORBIDDEN'],
    ['heartbeat', api(404), 'ClusterMissing', 'NOT_FOUND'],
    ['heartbeat', api(503), 'HubBusy', 'UNREACHABLE'],
    ['heartbeat', api(429), 'HubBusy', 'UNREACHABLE'],
    ['heartbeat', api(418), 'HubRefused', 'INTERNAL'],
    ['renewal', api(403), 'RenewalFailed', 'FORBIDDEN'],
    ['heartbeat', new MusterError('UNREACHABLE', 'x'), 'HubUnreachable', 'UNREACHABLE'],
    ['heartbeat', new MusterError('TIMEOUT', 'x'), 'HubUnreachable', 'TIMEOUT'],
    ['request', new MusterError('TLS_UNTRUSTED', 'x'), 'HubUntrusted', 'TLS_UNTRUSTED'],
    ['request', new MusterError('NOT_KUBERNETES', 'x'), 'HubNotKubernetes', 'NOT_KUBERNETES'],
    ['edge', new MusterError('UNREACHABLE', 'x'), 'EdgeUnavailable', 'UNREACHABLE'],
    ['edge', api(403), 'EdgeUnavailable', 'FORBIDDEN'],
    ['request', new TypeError('x'), 'Internal', 'INTERNAL'],
  ])('given at step %s the error %s, then the reason is %s, code %s', (step, error, reason, code) => {
    const failure = toAgentError(error, step, 'https://hub');
    expect(failure).toMatchObject({ name: 'MusterError', reason, code });
    expect(failure.cause).toBe(error);
  });

  it('given an AgentError, then it stays what it is', () => {
    const error = new AgentError('NotGranted', 'TIMEOUT', 'x');
    expect(toAgentError(error, 'edge', 'https://edge')).toBe(error);
  });

  it('given a refusal while waiting for the answer, then the name of the answering Secret is not told', () => {
    expect(toAgentError(api(401), 'answer', 'https://hub').describe()).not.toContain('c-1234');
  });
});
