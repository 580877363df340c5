/** The hub of the Fleet protocol: caches, controllers, and the one function that runs them. */
import { hostname } from 'node:os';
import { randomToken, registrationNamespace } from '../../../api/fleet/names.ts';
import { ClusterGroups, ClusterRegistrations, ClusterRegistrationTokens, Clusters } from '../../../api/fleet/kinds.ts';
import { Namespaces } from '../../../api/kubernetes/core.ts';
import { ClusterProfiles } from '../../../api/multicluster/kinds.ts';
import { labels as ruleLabels } from '../../../api/muster/constants.ts';
import { hubNames, workspaceLabel } from '../../../components/fleet/names.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Logger } from '../../kube/logger.ts';
import { silentLogger } from '../../kube/logger.ts';
import type { Manager } from '../../kube/manager.ts';
import { createManager } from '../../kube/manager.ts';
import type { Metrics } from '../../kube/metrics.ts';
import { addOptionalCache } from '../../kube/optional-cache.ts';
import { untilAborted } from '../../kube/until-aborted.ts';
import { addRegistrationRules } from '../cluster-api/rules.ts';
import { addInventory } from '../inventory/inventory.ts';
import { createAddressController } from './address-controller.ts';
import { createAnswerJanitor, pruneReaders } from './answer-janitor.ts';
import { createBootstrapController } from './bootstrap-controller.ts';
import { createHubCaches } from './caches.ts';
import { createClusterController } from './cluster-controller.ts';
import { followConfig } from './config-controller.ts';
import { createConfigStore } from './config-store.ts';
import { createContentRights } from './content-rights.ts';
import type { HubContext } from './context.ts';
import type { AgentDefaults } from './edge-agent.ts';
import { hubFieldManager } from './context.ts';
import { createCredentialReaders } from './credential-readers.ts';
import { createEdgeCleaner } from './edge-cleaner.ts';
import { createEdgeClients } from './edge-clients.ts';
import { createGroupController } from './group-controller.ts';
import { createImportController } from './import-controller.ts';
import { createOverlay } from './overlay.ts';
import { createRegistrationController } from './registration-controller.ts';
import { createRepairController } from './repair-controller.ts';
import { createRevocationController } from './revocation-controller.ts';
import { prepareHub } from './start-guard.ts';
import { createSingleFlight } from './single-flight.ts';
import { createStatusWriter } from './status-writer.ts';
import { createTokenControllers } from './token-controller.ts';
import { createWorkspaceController, sourceOpening } from './workspace-controller.ts';
import { createWorkspaceSecrets } from './workspace-secrets.ts';

/** Options of {@link runHub}. */
export interface HubOptions {
  /** Talks to the hub's cluster as the hub's own ServiceAccount. */
  readonly client: KubeClient;
  /** System namespace, such as `cattle-fleet-system`. */
  readonly namespace: string;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** `:8081`, `127.0.0.1:8081`; `0` or absent disables. */
  readonly probeAddress?: string;
  readonly metricsAddress?: string;
  /** Several replicas, one works. Default: true. */
  readonly leaderElect?: boolean;
  /** Refuse tokens without ttl, whatever the configuration says. Default: false. */
  readonly tokenTtlRequired?: boolean;
  /** Replicas and leader election of the agents that the hub installs. Default: one, with Fleet's times. */
  readonly agentDefaults?: AgentDefaults;
  /** Identity in the Lease. Default: host name and a random suffix. */
  readonly podName?: string;
}

/**
 * Runs the hub until the signal aborts. Rejects with IN_USE beside a hub of Fleet, with CONFLICT when the lease was
 * lost, or with what made a part fail; the process should exit then and start afresh. May be ended at any moment.
 */
export async function runHub(options: HubOptions, signal: AbortSignal): Promise<void> {
  const { client, namespace, logger = silentLogger } = options;
  const ownUid = await prepareHub(client, namespace, logger, signal);
  const manager = createManager({
    client,
    component: hubNames.deployment,
    logger,
    ...(options.metrics ? { metrics: options.metrics } : {}),
    ...(options.probeAddress ? { probeAddress: options.probeAddress } : {}),
    ...(options.metricsAddress ? { metricsAddress: options.metricsAddress } : {}),
    ...(options.leaderElect === false
      ? {}
      : {
          leaderElection: {
            name: hubNames.lease,
            namespace,
            identity: options.podName ?? `${hostname()}-${randomToken(8)}`,
          },
        }),
  });
  const edges = createEdgeClients('muster-hub');
  try {
    const { tokenTtlRequired = false, agentDefaults = {} } = options;
    const settings = { tokenTtlRequired, agentDefaults };
    assemble(manager, { systemNamespace: namespace, ownUid, edges, lifetime: signal, settings });
    await manager.run(signal);
  } finally {
    await edges.close();
  }
}

interface Assembly {
  readonly systemNamespace: string;
  readonly ownUid: string;
  readonly edges: ReturnType<typeof createEdgeClients>;
  readonly lifetime: AbortSignal;
  readonly settings: Pick<HubContext, 'tokenTtlRequired' | 'agentDefaults'>;
}

function assemble(manager: Manager, { systemNamespace, ownUid, edges, lifetime, settings }: Assembly): void {
  const { client, logger, events } = manager;
  const registration = registrationNamespace(systemNamespace);
  const caches = createHubCaches(manager, { system: systemNamespace, registration });
  const workspaces = manager.cache(Namespaces, { labelSelector: `${workspaceLabel}=true` });
  const sourceNamespaces = manager.cache(Namespaces, { labelSelector: `${ruleLabels.source}=true` });
  const profiles = addOptionalCache(manager, [ClusterProfiles]);
  const secrets = createWorkspaceSecrets(client, [workspaces, sourceNamespaces], [systemNamespace], logger);
  const config = createConfigStore({});
  const [clusters, requests, tokens] = [
    createOverlay(caches.clusters),
    createOverlay(caches.requests),
    createOverlay(caches.tokens),
  ];
  const context: HubContext = {
    client,
    logger,
    events,
    systemNamespace,
    registrationNamespace: registration,
    ownUid,
    config,
    ...settings,
    caches,
    secrets,
    readers: createCredentialReaders(client, registration, caches),
    clusters,
    requests,
    tokens,
    namespaces: createOverlay(caches.namespaces),
    serviceAccounts: createOverlay(caches.serviceAccounts),
    clusterStatus: createStatusWriter(client, Clusters, clusters, hubFieldManager),
    requestStatus: createStatusWriter(client, ClusterRegistrations, requests, hubFieldManager),
    tokenStatus: createStatusWriter(client, ClusterRegistrationTokens, tokens, hubFieldManager),
    granting: new Set(),
    newNamespaces: createSingleFlight(),
    observed: new Map(),
    inherited: new Map(),
    published: new Map(),
    troubles: new Map(),
    enqueueCluster: (key, afterMs) => clusterController.enqueue(key, afterMs === undefined ? {} : { afterMs }),
  };
  followConfig(caches.config, config, events, logger);
  // what others were given in a cluster goes while it can be reached, before its agent
  const cleaners = [
    addInventory(manager, context, edges, { workspaces, profiles }),
    createEdgeCleaner(context, edges, lifetime),
  ];
  const clusterController = createClusterController(context, cleaners);
  manager.addRunnable(secrets);
  manager.addRunnable({ name: 'prune-readers', run: (signal) => pruneWhenSynced(context, signal) });
  manager.add(createWorkspaceController(client, workspaces, systemNamespace));
  manager.add(createWorkspaceController(client, sourceNamespaces, systemNamespace, sourceOpening));
  for (const controller of createTokenControllers(context)) manager.add(controller);
  manager.add(createRegistrationController(context));
  manager.add(clusterController);
  manager.add(createRevocationController(context));
  manager.add(createRepairController(context));
  manager.add(createContentRights(context));
  manager.add(createAnswerJanitor(context));
  manager.add(createImportController(context, edges));
  manager.add(createBootstrapController(context));
  manager.add(createAddressController(context));
  addRegistrationRules(manager, context, profiles);
  const groups = createOverlay(caches.groups);
  manager.add(createGroupController(context, createStatusWriter(client, ClusterGroups, groups, hubFieldManager)));
}

async function pruneWhenSynced(context: HubContext, signal: AbortSignal): Promise<void> {
  const { credentials, requests, readerRoles, bindings, serviceAccounts } = context.caches;
  try {
    const needed = [credentials, requests, readerRoles, bindings, serviceAccounts];
    await Promise.all(needed.map((cache) => cache.whenSynced(signal)));
    await pruneReaders(context, signal);
  } catch (error) {
    // names that answer nothing give no rights worth ending the hub for; the next start tries again
    if (!signal.aborted) context.logger.warn({ error }, 'cannot prune reader roles');
  }
  await untilAborted(signal);
}
