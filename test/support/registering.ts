/** What users and agents do at a hub, in the fewest words. */
import { parseValues } from '../../api/fleet/bootstrap-values.ts';
import type { BootstrapValues } from '../../api/fleet/bootstrap-values.ts';
import { labels } from '../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration, ClusterRegistrationToken } from '../../api/fleet/kinds.ts';
import { ClusterRegistrations, ClusterRegistrationTokens, Clusters } from '../../api/fleet/kinds.ts';
import { randomToken, registrationSecretName } from '../../api/fleet/names.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { isForbidden } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { poll } from '../harness/index.ts';
import type { RunningHub } from './running-hub.ts';
import { registrationNamespace } from './running-hub.ts';

/** A hub of any kind, as its administrator sees it. */
export type AtHub = Pick<RunningHub, 'admin'>;

export const workspace = 'fleet-default';
const apiVersion = 'fleet.cattle.io/v1alpha1';

export async function createToken(hub: AtHub, name: string, ttl?: string): Promise<ClusterRegistrationToken> {
  const spec = ttl === undefined ? {} : { ttl };
  const metadata = { name, namespace: workspace };
  return await hub.admin.create(ClusterRegistrationTokens, {
    apiVersion,
    kind: 'ClusterRegistrationToken',
    metadata,
    spec,
  });
}

/** Values of a token, once the hub has written them. */
export async function valuesOf(hub: AtHub, name: string): Promise<BootstrapValues> {
  const secret = await poll(() => hub.admin.find(Secrets, { namespace: workspace, name }), {
    what: `values of ${name}`,
  });
  return parseValues(Buffer.from(secret.data?.['values'] ?? '', 'base64').toString());
}

/** A client of the token's account. */
export async function asToken(hub: RunningHub, name: string): Promise<KubeClient> {
  return hub.asBearer((await valuesOf(hub, name)).token);
}

export interface AskOptions {
  readonly clientID: string;
  readonly clientRandom?: string;
  /** Label registration-token; none when `null`. */
  readonly token?: string | null;
  readonly clusterLabels?: Record<string, string>;
  readonly rotating?: boolean;
}

/** Posts a ClusterRegistration as an agent does. */
export async function ask(client: KubeClient, options: AskOptions): Promise<ClusterRegistration> {
  const { clientID, clientRandom = randomToken(), token = null, clusterLabels = {} } = options;
  return await client.create(ClusterRegistrations, {
    apiVersion,
    kind: 'ClusterRegistration',
    metadata: {
      generateName: 'request-',
      namespace: workspace,
      ...(token === null ? {} : { labels: { [labels.registrationToken]: token } }),
      ...(options.rotating ? { annotations: { 'muster.dev/credential': 'rotating' } } : {}),
    },
    spec: { clientID, clientRandom, clusterLabels },
  });
}

/** The answer's texts, read as the agent does: GET by name until it is there and may be read. */
export async function answerTo(
  client: KubeClient,
  request: ClusterRegistration,
  limitMs?: number,
): Promise<Record<string, string>> {
  const name = registrationSecretName(request.spec?.clientID ?? '', request.spec?.clientRandom ?? '');
  const secret = await poll(
    async () => {
      try {
        return await client.find(Secrets, { namespace: registrationNamespace, name });
      } catch (error) {
        if (isForbidden(error)) return undefined;
        throw error;
      }
    },
    { what: `the answer to ${request.metadata.name ?? ''}`, ...(limitMs === undefined ? {} : { limitMs }) },
  );
  const entries = Object.entries(secret.data ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

export function cluster(name: string, spec: Cluster['spec'], metadata: Cluster['metadata'] = {}): Cluster {
  return { apiVersion, kind: 'Cluster', metadata: { name, namespace: workspace, ...metadata }, spec };
}

/** Declares a Cluster with a kubeconfig, in the Secret `NAME-kubeconfig`, as Cluster API would. */
export async function declareImported(
  hub: AtHub,
  name: string,
  kubeconfig: string,
  spec: Cluster['spec'] = {},
): Promise<void> {
  const kubeConfigSecret = `${name}-kubeconfig`;
  await hub.admin.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: workspace, name: kubeConfigSecret },
    data: { value: Buffer.from(kubeconfig).toString('base64') },
  });
  await hub.admin.create(Clusters, cluster(name, { ...spec, kubeConfigSecret }));
}

/** Waits until `look` likes a Cluster. */
export async function clusterThat(
  hub: AtHub,
  name: string,
  look: (cluster: Cluster) => boolean,
  what: string,
  limitMs = 20_000,
): Promise<Cluster> {
  return await poll(
    async () => {
      const found = await hub.admin.find(Clusters, { namespace: workspace, name });
      return found !== undefined && look(found) ? found : undefined;
    },
    { what: `Cluster ${name}: ${what}`, limitMs },
  );
}

export function condition(object: Cluster | ClusterRegistration | ClusterRegistrationToken | undefined, type: string) {
  return object?.status?.conditions?.find((each) => each.type === type);
}
