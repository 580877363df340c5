/** What each error code means and what to do; the texts of docs/errors.md. */
import type { ErrorCode } from './errors.ts';

/** For people. Both are full sentences, in Markdown. */
export interface Meaning {
  readonly meaning: string;
  readonly action: string;
}

export const errorMeanings: Readonly<Record<ErrorCode, Meaning>> = {
  INVALID_ARGUMENT: {
    meaning: 'An input cannot be used: a name, label, duration, field or configuration. The error names each path.',
    action: 'Correct the named fields. Nothing was changed.',
  },
  INVALID_KUBECONFIG: {
    meaning:
      'The kubeconfig is empty, is not YAML, has no current context, or its context names a cluster or user that it does not have.',
    action:
      'Run `kubectl --kubeconfig FILE config view` on it; it has to show a current context. In a Secret, the file has to be under the key `value`.',
  },
  KUBECONFIG_REFUSED: {
    meaning:
      'The kubeconfig asks for something that the hub does not do for others: to run a program (`exec`, `auth-provider`), to read files of the hub, or to skip the verification of certificates.',
    action:
      'Give the hub a kubeconfig with inline certificates and a token or client certificate. Provider and CLI, which run as you, take exec plugins.',
  },
  UNREACHABLE: {
    meaning:
      'No connection to the server: the name does not resolve, the port is closed, or the network drops packets.',
    action:
      'Check address, firewall and `proxy-url` from where the error was raised: hub, agent and your machine see different networks. The runtime goes on trying.',
  },
  TLS_UNTRUSTED: {
    meaning:
      'The server shows a certificate that the given CA did not sign, that is for another name, or that has expired.',
    action:
      'Give the CA that signs the API server (`certificate-authority-data`, `apiServerCA`), or the name in its certificate (`tls-server-name`).',
  },
  NOT_KUBERNETES: {
    meaning: 'Something answers at the address, but not as an API server does: a login page, a proxy, another service.',
    action: 'Check port and path of the address; `curl -k ADDRESS/version` has to give JSON with `gitVersion`.',
  },
  UNAUTHORIZED: {
    meaning: 'The API server does not know the credential: it has expired, was revoked, or belongs to another cluster.',
    action: 'Renew the credential. For an agent, make a new registration token and put its values at the edge.',
  },
  FORBIDDEN: {
    meaning: 'The credential is known and lacks a right; the error names verb and resource.',
    action: 'Grant the named right. For objects of muster, `muster doctor` tells which binding is missing.',
  },
  NOT_FOUND: {
    meaning: 'An object, a context or a program that is needed does not exist.',
    action: 'Make what the error names, or correct its name.',
  },
  ALREADY_OWNED: {
    meaning: 'An object of that name exists and belongs to somebody else. It was not touched.',
    action: 'Choose another name, or remove the object, or adopt it with `pulumi import` when it is yours.',
  },
  CONFLICT: {
    meaning: 'Somebody else changed the same object or field at the same time, more often than was worth trying again.',
    action: 'Run again. If it stays, find the other writer: `kubectl get … -o yaml --show-managed-fields`.',
  },
  TIMEOUT: {
    meaning: 'Something did not happen within the time that was given. The error names the stage that is stuck.',
    action:
      'Look at the conditions of the named object. If it just needs longer, raise the timeout of the resource; what was made stays and is awaited again by the next run.',
  },
  IN_USE: {
    meaning: 'Something cannot be removed because others depend on it, such as a hub that has registered clusters.',
    action: 'Remove what depends on it first, or say explicitly that it may be left behind.',
  },
  TOKEN_EXPIRED: {
    meaning:
      'The registration token has expired, and was deleted with its Secret. Clusters registered with it stay registered.',
    action: 'Make a new ClusterRegistrationToken and put its values at the edge.',
  },
  WRONG_CLUSTER: {
    meaning:
      'The kubeconfig leads to another cluster than before, or a cluster is about to be registered with itself. The UID of `kube-system` tells clusters apart.',
    action: 'Give the kubeconfig of the right cluster. If the cluster was rebuilt, replace the resource.',
  },
  UNSUPPORTED: {
    meaning: 'Versions do not fit together, or the platform lacks something that is needed.',
    action: 'The error names both sides; upgrade the older one.',
  },
  SECRET_IN_CLEAR: {
    meaning:
      'A manifest that is to be written to a file would hold a credential in clear: a value of a Secret, a token, a key, an address with a password. What is committed to Git once is known for ever. Nothing was written.',
    action:
      'Refer to the credential instead: by the name of a Secret that exists in the cluster, by an ExternalSecret or by a SealedSecret (`docs/gitops.md`). For manifests that are applied at once and never committed, say `allowSecrets: true`, or `--allow-secrets` on the command line.',
  },
  INTERNAL: {
    meaning: 'A mistake of muster.',
    action: 'Report it with the text of the error and what led to it; the text holds no secrets.',
  },
};
