/** What every controller of the hub is given. */
import type { Namespace, ServiceAccount } from '../../../api/kubernetes/core.ts';
import { labels, managedByMuster } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration, ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import type { KubeObject } from '../../../api/resource.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { Logger } from '../../kube/logger.ts';
import type { EnsureOptions } from '../../registration/ensure.ts';
import type { HubCaches } from './caches.ts';
import type { ConfigStore } from './config-store.ts';
import type { CredentialReaders } from './credential-readers.ts';
import type { AgentDefaults } from './edge-agent.ts';
import type { Overlay } from './overlay.ts';
import type { SingleFlight } from './single-flight.ts';
import type { StatusWriter } from './status-writer.ts';
import type { WorkspaceSecrets } from './workspace-secrets.ts';

/** Field manager of everything that the hub writes. */
export const hubFieldManager = 'muster-hub';

/** On all that the hub makes and may take away again. */
export const managedLabels = { [labels.managed]: 'true', [labels.managedBy]: managedByMuster } as const;

export interface HubContext {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly systemNamespace: string;
  readonly registrationNamespace: string;
  /** UID of kube-system of the hub's own cluster. */
  readonly ownUid: string;
  readonly config: ConfigStore;
  /** Tokens without ttl are not issued (environment FLEET_REGISTRATION_TOKEN_TTL_REQUIRED); the configuration may say so, too. */
  readonly tokenTtlRequired: boolean;
  /** For all agents that this hub installs. */
  readonly agentDefaults: AgentDefaults;
  readonly caches: HubCaches;
  readonly secrets: WorkspaceSecrets;
  readonly readers: CredentialReaders;
  /** Newest states, with the hub's own writes. */
  readonly clusters: Overlay<Cluster>;
  readonly requests: Overlay<ClusterRegistration>;
  readonly tokens: Overlay<ClusterRegistrationToken>;
  readonly namespaces: Overlay<Namespace>;
  readonly serviceAccounts: Overlay<ServiceAccount>;
  readonly clusterStatus: StatusWriter<Cluster>;
  readonly requestStatus: StatusWriter<ClusterRegistration>;
  readonly tokenStatus: StatusWriter<ClusterRegistrationToken>;
  /** Clusters (`namespace/name`) that a registration is working on right now; it writes their first status itself. */
  readonly granting: Set<string>;
  /** Cluster namespaces that are being made, by name: registration, import and Cluster all need it, and at once. */
  readonly newNamespaces: SingleFlight<Namespace>;
  /** When this process saw `lastSeen` of a Cluster (`namespace/name`) change, in milliseconds. */
  readonly observed: Map<string, number>;
  /**
   * Clusters (`namespace/name`) that the hub before this one called reachable although their own time says otherwise, and
   * when this process found that: their clock is wrong, or no hub was there for long.
   */
  readonly inherited: Map<string, number>;
  /** Why the agent of a Cluster (`namespace/name`) does not run downstream, as far as this process has looked. */
  readonly troubles: Map<string, string>;
  /** When this process published the answer to a request (`namespace/name`), in milliseconds. */
  readonly published: Map<string, number>;
  /** Asks for a reconcile of a Cluster. */
  enqueueCluster(key: string, afterMs?: number): void;
}

/** Options for objects that the hub makes. */
export function ensureOptions(signal: AbortSignal, ours: (object: KubeObject) => boolean = isManaged): EnsureOptions {
  return { fieldManager: hubFieldManager, ours, signal };
}

/** Made by the hub of this protocol (ours or an original one). */
export function isManaged(object: KubeObject): boolean {
  return object.metadata.labels?.[labels.managed] === 'true';
}
