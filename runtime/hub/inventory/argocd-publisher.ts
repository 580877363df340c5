/** Publishing one Cluster to Argo CD, and taking that back: both safe to repeat after an end at any call. */
import { reasons } from '../../../api/conditions.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import { argoCDAccessName, argoCDSecretName } from '../../../components/fleet/argocd-names.ts';
import { argoCDSecret } from '../../../components/fleet/argocd-secret.ts';
import type { KubeClient } from '../../kube/client.ts';
import { renewAt } from '../../registration/credential.ts';
import type { HubContext } from '../fleet/context.ts';
import type { EdgeClients } from '../fleet/edge-clients.ts';
import type { ConnectedEdge } from '../fleet/edge-connect.ts';
import { connectEdge } from '../fleet/edge-connect.ts';
import { ImportFault, readKubeconfig } from '../fleet/edge-kubeconfig.ts';
import type { Outside } from '../fleet/slots.ts';
import { endArgoCDTokens, grantArgoCD, revokeArgoCD } from './argocd-edge.ts';
import type { ArgoCDRecord } from './argocd-record.ts';
import { recordOf } from './argocd-record.ts';
import { clearArgoCD, reportArgoCD } from './argocd-report.ts';
import { dropArgoCDSecret, keepArgoCDSecret } from './argocd-secrets.ts';
import type { ArgoCDSettings } from './argocd-settings.ts';
import { passedLabels } from './passed-labels.ts';

/** What a Cluster is to be published with, and the digest of it. */
export interface ArgoCDPlan {
  readonly settings: ArgoCDSettings;
  readonly revision: string;
}

/** `outside`: where it is waited for the cluster itself. */
export interface ArgoCDPublisher {
  /** Account, rights, token and Secret, made anew; then the record. Throws ImportFault. */
  publish(cluster: Cluster, plan: ArgoCDPlan, outside: Outside, signal: AbortSignal): Promise<void>;
  /** Secret and account. Throws ImportFault for what could not be removed; the record stays then. */
  withdraw(cluster: Cluster, record: ArgoCDRecord, options: { skipEdge: boolean }, signal: AbortSignal): Promise<void>;
}

export function createArgoCDPublisher(hub: HubContext, edges: EdgeClients): ArgoCDPublisher {
  const accessName = (cluster: Cluster): string => argoCDAccessName(hub.ownUid, keyOf(cluster));

  async function connect(cluster: Cluster, signal: AbortSignal): Promise<ConnectedEdge> {
    const { config } = await readKubeconfig(hub, cluster, signal);
    return await connectEdge(edges, config, hub.config.current.agentTLSMode, signal);
  }

  /** Before anything is made: a hub that ends now has to know of it afterwards. */
  async function announce(cluster: Cluster, place: ArgoCDRecord, edge: KubeClient, signal: AbortSignal): Promise<void> {
    const before = recordOf(cluster);
    if (before?.namespace === place.namespace) return;
    if (before !== undefined) await leave(cluster, before, edge, signal);
    const told = { status: 'False', reason: reasons.pending, message: 'Argo CD is being given a credential' } as const;
    await reportArgoCD(hub, keyOf(cluster), told, place, signal);
  }

  /** The namespace of Argo CD is another one now; the hub may have lost its right in the old one with its manifests. */
  async function leave(cluster: Cluster, before: ArgoCDRecord, edge: KubeClient, signal: AbortSignal): Promise<void> {
    await endArgoCDTokens(edge, accessName(cluster), signal);
    try {
      await dropArgoCDSecret(hub.client, before, keyOf(cluster), signal);
    } catch (error) {
      if (!(error instanceof ImportFault)) throw error;
      hub.events.event(cluster, 'Warning', error.reason, `a Secret without use was left: ${error.message}`);
    }
  }

  return {
    async publish(cluster, { settings, revision }, outside, signal) {
      const { name = '', namespace = '' } = cluster.metadata;
      const { client, facts, config } = await outside(() => connect(cluster, signal));
      if (facts.uid === hub.ownUid) throw ownCluster();
      const place = { namespace: settings.namespace, name: argoCDSecretName(namespace, name) };
      await announce(cluster, place, client, signal);
      const { clusterRole, namespaces, project, ttlMs } = settings;
      const scope = namespaces === undefined ? {} : { namespaces };
      const issuedMs = Date.now();
      const access = { name: accessName(cluster), clusterRole, ...scope };
      const { token, expiresMs = issuedMs } = await outside(() => grantArgoCD(client, access, ttlMs, signal));
      const secret = argoCDSecret({
        namespace: settings.namespace,
        cluster: { namespace, name },
        labels: passedLabels(cluster.metadata.labels),
        server: config.server,
        ...(config.ca === undefined ? {} : { ca: config.ca }),
        ...(config.tlsServerName === undefined ? {} : { tlsServerName: config.tlsServerName }),
        ...(config.proxyUrl === undefined ? {} : { proxyUrl: config.proxyUrl }),
        token,
        ...scope,
        ...(project === undefined ? {} : { project }),
      });
      await keepArgoCDSecret(hub.client, secret, signal);
      const renewMs = Math.floor(renewAt(issuedMs, expiresMs) / 1000) * 1000;
      const message = 'Argo CD has a credential of its own for this cluster';
      const told = { status: 'True', reason: reasons.done, message } as const;
      await reportArgoCD(hub, keyOf(cluster), told, { ...place, content: { revision, renewMs } }, signal);
    },

    async withdraw(cluster, record, { skipEdge }, signal) {
      const edge = async (): Promise<void> => {
        const { client } = await connect(cluster, signal);
        await revokeArgoCD(client, accessName(cluster), signal);
      };
      // each is worth doing without the other: a Secret without rights, and rights that nobody has a token for
      const [hubSide, edgeSide] = await Promise.allSettled([
        dropArgoCDSecret(hub.client, record, keyOf(cluster), signal),
        skipEdge ? undefined : edge(),
      ]);
      for (const side of [hubSide, edgeSide]) if (side.status === 'rejected') throw side.reason;
      await clearArgoCD(hub, keyOf(cluster), signal);
    },
  };
}

/** Argo CD runs where its Secrets are: in the cluster of the hub, which it needs no Secret for. */
export function ownCluster(): ImportFault {
  const message = 'this is the cluster that Argo CD itself runs in, which it reaches as in-cluster';
  return new ImportFault(reasons.ownCluster, message, true);
}
