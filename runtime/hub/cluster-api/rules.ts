/** Registration by rule: puts the controllers together and gives them to the hub's manager. */
import { ClusterAPIClusters } from '../../../api/cluster-api/cluster.ts';
import type { Namespace } from '../../../api/kubernetes/core.ts';
import { Namespaces } from '../../../api/kubernetes/core.ts';
import type { ClusterProfile } from '../../../api/multicluster/kinds.ts';
import { RegistrationRules } from '../../../api/muster/kinds.ts';
import { durations } from '../../../api/durations.ts';
import { createCache } from '../../kube/cache.ts';
import type { Manager } from '../../kube/manager.ts';
import type { OptionalCache } from '../../kube/optional-cache.ts';
import { addOptionalCache } from '../../kube/optional-cache.ts';
import { untilAborted } from '../../kube/until-aborted.ts';
import type { HubContext } from '../fleet/context.ts';
import { hubFieldManager } from '../fleet/context.ts';
import { createOverlay } from '../fleet/overlay.ts';
import { createStatusWriter } from '../fleet/status-writer.ts';
import { Claims } from './claims.ts';
import { slimCluster } from './cluster-api-source.ts';
import { createFleetRegistrar } from './fleet-registrar.ts';
import { createRuleController } from './rule-controller.ts';
import type { RuleContext } from './rule-context.ts';
import { createRuleGroupController } from './rule-groups.ts';
import { namespaceOf } from './selection.ts';
import { createSourceController } from './source-controller.ts';
import { createSources } from './sources.ts';
import { Tally } from './tally.ts';
import { createWarmUp } from './warm-up.ts';

/** `profiles` is shared with whoever publishes ClusterProfiles. */
export function addRegistrationRules(manager: Manager, hub: HubContext, profiles: OptionalCache<ClusterProfile>): void {
  const { client, logger, events } = manager;
  const rules = addOptionalCache(manager, [RegistrationRules]);
  const clusters = addOptionalCache(manager, ClusterAPIClusters, { transform: slimCluster });
  const namespaces = createCache(client, Namespaces, { transform: slimNamespace, logger });
  const tally = new Tally();
  const later = { afterMs: durations.ruleStatus };
  const context: RuleContext = {
    systemNamespace: hub.systemNamespace,
    events,
    rules,
    optional: [clusters, profiles] as unknown as readonly OptionalCache[],
    namespaces,
    sources: createSources(client, { clusters, profiles, secrets: hub.secrets }),
    registrar: createFleetRegistrar(hub),
    tally,
    claims: new Claims(),
    enqueueSource: (key) => sourceController.enqueue(key),
    ruleChanged: (rule) => ruleController.enqueue(rule, later),
  };
  const warmUp = createWarmUp(() =>
    rules.list().forEach(({ metadata }) => ruleController.enqueue(metadata.name ?? '')),
  );
  const sourceController = createSourceController(context, warmUp);
  const status = createStatusWriter(client, RegistrationRules, createOverlay(rules), hubFieldManager);
  const ruleController = createRuleController(context, status, warmUp);
  manager.add(sourceController);
  manager.add(ruleController);
  manager.add(createRuleGroupController(hub));
  manager.addRunnable({
    name: 'rule-namespaces',
    needsLeader: false,
    run: (signal) => followWhileNeeded(rules, () => namespaces.start(signal), signal),
  });
  manager.addRunnable({
    name: 'rule-warm-up',
    run: async (signal) => {
      await warm(context, hub, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      warmUp.complete();
      await untilAborted(signal);
    },
  });
  for (const kind of context.optional) {
    kind.onInstalled((installed) => {
      if (!installed) return;
      // what became of sources while their kind was away is known only now
      void kind.whenSynced().then(() => context.registrar.sources().forEach((key) => sourceController.enqueue(key)));
    });
  }
}

/** All namespaces are followed only while there are rules: most hubs have none. */
async function followWhileNeeded(
  rules: OptionalCache,
  follow: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let following: Promise<void> | undefined;
  const unsubscribe = rules.subscribe(() => void (following ??= follow()));
  await untilAborted(signal);
  unsubscribe();
  await following;
}

/** Until everything that rules can select has been listed once. */
async function warm(context: RuleContext, hub: HubContext, signal: AbortSignal): Promise<void> {
  const { rules, optional, registrar, namespaces } = context;
  await Promise.all([rules, ...optional].map((cache) => cache.whenSynced(signal)));
  await registrar.whenSynced(signal);
  if (rules.list().length === 0) return;
  await namespaces.whenSynced(signal);
  const open = namespaces.list().filter((namespace) => namespaceOf(namespace).open);
  await Promise.all(open.map(({ metadata }) => hub.secrets.whenOpen(metadata.name ?? '', signal)));
}

function slimNamespace({ apiVersion, kind, metadata }: Namespace): Namespace {
  const { name, uid, resourceVersion, labels, deletionTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(labels === undefined ? {} : { labels }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
  };
}
