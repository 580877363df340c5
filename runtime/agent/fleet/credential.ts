/** The agent's own credential: Secret `fleet-agent`, in the layout that Fleet's agent writes and reads. */
import { secretKeys, secretNames } from '../../../api/fleet/constants.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import type { ClientConfig } from '../../kube/client-config.ts';
import type { KubeClient } from '../../kube/client.ts';
import { formatKubeconfig, parseKubeconfig } from '../../kube/kubeconfig.ts';
import { AgentError } from './failure.ts';

/** Field manager of everything that the agent writes at the edge. */
export const fieldManager = 'muster-agent';

/** What makes a cluster a registered one. `config` holds the token. */
export interface AgentCredential {
  readonly config: ClientConfig;
  /** Workspace on the hub that holds the Cluster. */
  readonly clusterNamespace: string;
  readonly clusterName: string;
  /** Namespace on the hub that holds what this cluster is to run. */
  readonly deploymentNamespace: string;
}

/** Where the hub was reached and what it answered, enough to build a credential. */
export interface Grant {
  readonly server: string;
  /** PEM; absent when the operating system's roots are enough. */
  readonly ca?: string;
  readonly token: string;
  readonly clusterNamespace: string;
  readonly clusterName: string;
  readonly deploymentNamespace: string;
}

export function credentialOf(grant: Grant): AgentCredential {
  const { server, ca, token, clusterNamespace, clusterName, deploymentNamespace } = grant;
  return {
    config: {
      server,
      token,
      namespace: deploymentNamespace,
      contextName: 'default',
      ...(ca === undefined ? {} : { ca }),
    },
    clusterNamespace,
    clusterName,
    deploymentNamespace,
  };
}

/**
 * The stored credential; `undefined` when there is none.
 * @throws AgentError CredentialInvalid when the Secret is there but cannot be used.
 */
export async function readCredential(
  edge: KubeClient,
  namespace: string,
  signal?: AbortSignal,
): Promise<AgentCredential | undefined> {
  const secret = await edge.find(
    Secrets,
    { namespace, name: secretNames.agent },
    signal === undefined ? {} : { signal },
  );
  return secret === undefined ? undefined : parseCredential(secret);
}

/** @throws AgentError CredentialInvalid naming what is missing or wrong. */
export function parseCredential(secret: Secret): AgentCredential {
  const where = `Secret ${secret.metadata.namespace ?? ''}/${secret.metadata.name ?? ''}`;
  const field = (key: string): string => {
    const value = Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
    if (value === '') throw invalid(where, `it has no ${key}`);
    return value;
  };
  const kubeconfig = field(secretKeys.agentKubeconfig);
  const place = {
    clusterNamespace: field(secretKeys.clusterNamespace),
    clusterName: field(secretKeys.clusterName),
    deploymentNamespace: field(secretKeys.deploymentNamespace),
  };
  try {
    return { config: parseKubeconfig(kubeconfig, { policy: 'hub' }), ...place };
  } catch (error) {
    throw invalid(where, error instanceof Error ? error.message : 'its kubeconfig cannot be read', error);
  }
}

function invalid(where: string, message: string, cause?: unknown): AgentError {
  return new AgentError('CredentialInvalid', 'INVALID_KUBECONFIG', `the stored credential cannot be used: ${message}`, {
    where,
    cause,
    hint: 'Apply a Secret fleet-agent-bootstrap with a new token; the agent then replaces this one.',
  });
}

/** Writes the credential; only once it is stored may it be used, so that a crash never loses the last working one. */
export async function storeCredential(edge: KubeClient, namespace: string, credential: AgentCredential): Promise<void> {
  const { config, clusterNamespace, clusterName, deploymentNamespace } = credential;
  const kubeconfig = formatKubeconfig({
    server: config.server,
    ...(config.ca === undefined ? {} : { ca: config.ca }),
    token: config.token ?? '',
    namespace: deploymentNamespace,
    contextName: config.contextName,
  });
  const data = {
    [secretKeys.agentKubeconfig]: kubeconfig,
    [secretKeys.deploymentNamespace]: deploymentNamespace,
    [secretKeys.clusterNamespace]: clusterNamespace,
    [secretKeys.clusterName]: clusterName,
  };
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: secretNames.agent },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
  };
  await edge.apply(Secrets, secret, { fieldManager });
}
