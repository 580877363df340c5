/**
 * The one registration request of a bootstrap Secret. What is sent is written down first, so that an agent that was
 * killed at any moment sends the same request again, under the same name, instead of a second one.
 */
import { createHash } from 'node:crypto';
import { annotations, labels, requestGenerateName, rotatingCredential } from '../../../api/fleet/constants.ts';
import type { BootstrapValues } from '../../../api/fleet/bootstrap-values.ts';
import type { ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrations } from '../../../api/fleet/kinds.ts';
import { randomToken } from '../../../api/fleet/names.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import type { CallOptions, KubeClient } from '../../kube/client.ts';
import { readClaims } from '../../kube/token-claims.ts';

/** What was decided about a request before it was sent. */
export interface RememberedRequest {
  readonly clientID: string;
  readonly clientRandom: string;
  /** When it was first decided on, ISO 8601. */
  readonly createdAt: string;
  /** Hash of hub, workspace, clientID and token identity: with any other of these it would be another request. */
  readonly for: string;
}

/** Hash of what a request is for. The token counts by its subject, so that a token renewed for the same account fits. */
export function fingerprint(values: BootstrapValues, clientID: string): string {
  const identity = readClaims(values.token).subject ?? createHash('sha256').update(values.token).digest('hex');
  const parts = [values.apiServerURL, values.clusterNamespace, clientID, values.tokenName, identity];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

/** Name of the request: the same for the same remembered values, so that sending it twice makes one. */
export function requestName(request: RememberedRequest): string {
  const digest = createHash('sha256').update(`${request.clientID}\n${request.clientRandom}`).digest('hex');
  return `${requestGenerateName}${digest.slice(0, 20)}`;
}

/** The request that `secret` remembers for these values; `undefined` when none, or one for something else. */
export function recall(secret: Secret, values: BootstrapValues, clientID: string): RememberedRequest | undefined {
  const text = secret.metadata.annotations?.[annotations.registrationRequest];
  if (text === undefined) return undefined;
  try {
    const found = JSON.parse(text) as Partial<RememberedRequest> | null;
    const { clientRandom, createdAt } = found ?? {};
    if (typeof clientRandom !== 'string' || clientRandom === '' || typeof createdAt !== 'string') return undefined;
    if (Number.isNaN(Date.parse(createdAt)) || found?.for !== fingerprint(values, clientID)) return undefined;
    return { clientID, clientRandom, createdAt, for: found.for };
  } catch {
    return undefined;
  }
}

/** The remembered request and the Secret as it is stored now. */
export interface Remembered {
  readonly request: RememberedRequest;
  readonly secret: Secret;
}

/**
 * Recalls the request of the bootstrap Secret, or decides on a new one and writes it down, at the version of the Secret
 * that was read (409 when it changed meanwhile: read it again).
 */
export async function remember(
  edge: KubeClient,
  secret: Secret,
  values: BootstrapValues,
  clientID: string,
  options: CallOptions = {},
): Promise<Remembered> {
  const known = recall(secret, values, clientID);
  if (known !== undefined) return { request: known, secret };
  const request: RememberedRequest = {
    clientID,
    clientRandom: randomToken(),
    createdAt: new Date().toISOString(),
    for: fingerprint(values, clientID),
  };
  const { clientRandom, createdAt, for: subject } = request;
  const text = JSON.stringify({ clientRandom, createdAt, for: subject });
  return { request, secret: await annotate(edge, secret, text, options) };
}

/** Makes the next registration a new request: the answer to the remembered one is of no use any more. */
export async function forget(edge: KubeClient, secret: Secret, options: CallOptions = {}): Promise<void> {
  await annotate(edge, secret, null, options);
}

async function annotate(edge: KubeClient, secret: Secret, text: string | null, options: CallOptions): Promise<Secret> {
  const { namespace = '', name = '', resourceVersion } = secret.metadata;
  const patch = { metadata: { resourceVersion, annotations: { [annotations.registrationRequest]: text } } };
  return await edge.patch(Secrets, { namespace, name }, patch, { ...options, type: 'merge' });
}

/** Who asks, as it goes into the request. */
export interface Asker {
  /** Labels of the edge's configuration. */
  readonly labels: Readonly<Record<string, string>>;
  readonly podName: string;
}

/** The object as it is sent. */
export function toRegistration(request: RememberedRequest, values: BootstrapValues, asker: Asker): ClusterRegistration {
  return {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'ClusterRegistration',
    metadata: {
      name: requestName(request),
      namespace: values.clusterNamespace,
      labels: { [labels.registrationToken]: values.tokenName },
      annotations: { [annotations.credential]: rotatingCredential },
    },
    spec: {
      clientID: request.clientID,
      clientRandom: request.clientRandom,
      clusterLabels: { ...asker.labels, [labels.createdByAgentPod]: asker.podName },
    },
  };
}

/** Sends the request. That it is already there means that an earlier run sent it. */
export async function send(
  hub: KubeClient,
  registration: ClusterRegistration,
  options: CallOptions = {},
): Promise<void> {
  try {
    await hub.create(ClusterRegistrations, registration, options);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
