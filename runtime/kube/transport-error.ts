/** What went wrong below the API, in words and codes that tell whose fault it is. */
import type { ErrorCode } from '../../api/errors.ts';
import { MusterError } from '../../api/errors.ts';

interface Explanation {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  readonly retryable?: boolean;
}

const untrusted = (message: string): Explanation => ({
  code: 'TLS_UNTRUSTED',
  message,
  hint: 'Give the CA that signed the server certificate, or the name it is issued for (tls-server-name).',
});

const unreachable = (message: string, hint: string): Explanation => ({
  code: 'UNREACHABLE',
  message,
  hint,
  retryable: true,
});

const noTls: Explanation = {
  code: 'NOT_KUBERNETES',
  message: 'does not speak TLS',
  hint: 'Check scheme and port of the server URL.',
};

const noHttp: Explanation = {
  code: 'NOT_KUBERNETES',
  message: 'does not speak HTTP',
  hint: 'Check the server URL: something else listens there.',
};

/** By `code` of the errors of Node's net, tls and http. */
const explanations: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: unreachable('refuses connections', 'Check that the API server runs and that the port is right.'),
  ENOTFOUND: unreachable('has a name that cannot be resolved', 'Check the host name and the DNS.'),
  EAI_AGAIN: unreachable('has a name that cannot be resolved now', 'Check the DNS.'),
  EHOSTUNREACH: unreachable('cannot be reached: no route to host', 'Check the network between here and the server.'),
  ENETUNREACH: unreachable('cannot be reached: no route', 'Check the network between here and the server.'),
  ETIMEDOUT: unreachable('does not answer', 'Check the network and the firewalls between here and the server.'),
  ECONNRESET: unreachable('closed the connection', 'The server may be restarting; try again.'),
  EPIPE: unreachable('closed the connection', 'The server may be restarting; try again.'),
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted('has a self-signed certificate'),
  SELF_SIGNED_CERT_IN_CHAIN: untrusted('has a certificate of an unknown authority'),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted('has a certificate of an unknown authority'),
  UNABLE_TO_GET_ISSUER_CERT: untrusted('has a certificate of an unknown authority'),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted('has a certificate of an unknown authority'),
  CERT_SIGNATURE_FAILURE: untrusted('has a certificate that the given authority did not sign'),
  CERT_UNTRUSTED: untrusted('has an untrusted certificate'),
  CERT_REJECTED: untrusted('has a rejected certificate'),
  CERT_HAS_EXPIRED: untrusted('has an expired certificate'),
  CERT_NOT_YET_VALID: untrusted('has a certificate that is not valid yet; compare the clocks'),
  INVALID_CA: untrusted('has a certificate of an invalid authority'),
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted('has a certificate for another name'),
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
};

/** The MusterError of a failed exchange with `server`. Errors that are MusterErrors already pass through. */
export function transportError(error: unknown, server: string): Error {
  if (error instanceof MusterError) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  const explanation = explanations[code] ?? byPrefix(code);
  const { retryable = false, hint, message } = explanation;
  return new MusterError(explanation.code, message, { where: server, hint, retryable });
}

function byPrefix(code: string): Explanation {
  if (code.startsWith('HPE_')) return noHttp;
  if (code.startsWith('ERR_SSL_')) {
    return unreachable(`ended the TLS handshake (${code})`, 'Check the client certificate and the server URL.');
  }
  return unreachable(
    `cannot be reached (${code === '' ? 'unknown error' : code})`,
    'Check the network and the server.',
  );
}

/** Whether a connection broke, so that an idempotent call may be sent again at once. */
export function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}

export function timeoutError(server: string, what: string, ms: number): MusterError {
  return new MusterError('TIMEOUT', `${what} within ${ms / 1000} s`, {
    where: server,
    hint: 'Check the network, and whether the server is overloaded.',
    retryable: true,
  });
}

export function notKubernetes(server: string, what: string): MusterError {
  return new MusterError('NOT_KUBERNETES', what, {
    where: server,
    hint: 'Check the server URL: a login page, a proxy or another program answers there.',
  });
}
