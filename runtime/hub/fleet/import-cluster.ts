/** One import: what is to be done for a Cluster now, and doing it. */
import { reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { defaults } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { importTokenName } from '../../../api/fleet/names.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Namespaces } from '../../../api/kubernetes/core.ts';
import type { KubeObject } from '../../../api/resource.ts';
import { keyOf } from '../../../api/resource.ts';
import { synthAgent } from '../../../components/fleet/fleet-agent.ts';
import type { AgentProps } from '../../../components/fleet/props.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Result } from '../../kube/controller.ts';
import { removeAgentBundle } from './agent-bundle.ts';
import { ensureClusterNamespace } from './cluster-namespace.ts';
import type { HubContext } from './context.ts';
import { agentNamespaceOf, agentProps, bootstrapFor, settingsRevision } from './edge-agent.ts';
import { applyAgent, removeAgent, removeStatefulAgent } from './edge-apply.ts';
import type { EdgeClients } from './edge-clients.ts';
import { leaveLastingCredential, readdress } from './edge-credential.ts';
import { ImportFault } from './edge-kubeconfig.ts';
import { carriedCredential, finishMove, hasArrived, leftNamespaces, noteMove } from './edge-move.ts';
import { explainEdgeError } from './edge-probe.ts';
import { lookAtAgent, lookIn } from './edge-workload.ts';
import type { AwaitedTokens } from './import-awaited.ts';
import { report, reportApplied } from './import-report.ts';
import type { Applied, ImportNeed } from './import-state.ts';
import { appliedOf, importNeed, shortUid } from './import-state.ts';
import type { Target } from './import-target.ts';
import { checkSettings, explainApplyError, targetOf } from './import-target.ts';
import { endsSoon, ensureImportToken, importValues, renewIn } from './import-token.ts';
import { isDisabled, isLocal } from './local-cluster.ts';
import { pullSecretVersions, pullSecrets } from './pull-secrets.ts';
import { registrationOf } from './registration-state.ts';
import type { Outside } from './slots.ts';
import { expire } from './token-end.ts';

/** What an import works with, beside the hub: some of it all imports share. */
export interface ImportTools {
  readonly edges: EdgeClients;
  readonly tokens: AwaitedTokens;
  /** For what is waited for. */
  readonly outside: Outside;
  /** Ends waits that would hold the end of the process up. */
  readonly stopping: AbortSignal;
}

/** Throws ImportFault for what the user has to know. */
export async function importCluster(
  context: HubContext,
  tools: ImportTools,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<Result | void> {
  checkSettings(context, cluster);
  const target = await targetOf(context, tools.edges, cluster, tools.outside, signal);
  if (isDisabled(context, cluster)) return await removeLocalAgent(context, target, signal);
  const { address } = target;
  if (!address.url) {
    const message =
      'the hub does not know its own address; set apiServerURL in ConfigMap fleet-controller or in the kubeconfig Secret';
    throw new ImportFault(reasons.hubAddressMissing, message, true);
  }
  const props = agentProps(cluster, context.config.current, context.agentDefaults);
  const revision = settingsRevision(props, address, target.server, pullSecretVersions(context, cluster));
  const registered = registrationOf(context, cluster).state === 'granted';
  const present = context.tokens.get(
    `${cluster.metadata.namespace ?? ''}/${importTokenName(cluster.metadata.name ?? '')}`,
  );
  const need = importNeed(cluster, revision, registered, present?.metadata.uid);
  if (need.apply) {
    return await install(context, target, { props, revision, registered, need, tools }, signal);
  }
  if (leftNamespaces(cluster).length > 0 && hasArrived(cluster)) await leave(context, target, signal);
  const kept = await keepToken(context, present, need.bootstrap, signal);
  return sooner(kept, await watchOver(context, target, signal));
}

/** While the agent is not heard of: says why, as far as its cluster knows. */
async function watchOver(context: HubContext, target: Target, signal: AbortSignal): Promise<Result | undefined> {
  const waitMs = lookIn(target.cluster, Date.now());
  if (waitMs === undefined) return undefined;
  if (waitMs > 0) return { requeueAfterMs: waitMs };
  await lookAtAgent(context, target, signal);
  return { requeueAfterMs: durations.agentLookAgain };
}

function sooner(a: Result | void, b: Result | undefined): Result | undefined {
  const times = [a?.requeueAfterMs, b?.requeueAfterMs].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : { requeueAfterMs: Math.min(...times) };
}

interface Plan {
  readonly props: AgentProps;
  readonly revision: string;
  readonly registered: boolean;
  readonly need: ImportNeed;
  readonly tools: ImportTools;
}

async function install(
  context: HubContext,
  target: Target,
  { props, revision, registered, need, tools }: Plan,
  signal: AbortSignal,
): Promise<Result | void> {
  const { cluster, address } = target;
  // a faulty setting is told before anything is made for it
  synthAgent(props);
  const client = await target.connect();
  // its agent will ask for it soon; why there is none, the Cluster's own reconcile tells
  const namespace = ensureClusterNamespace(context, cluster, signal).catch(() => undefined);
  const carried = await carryOver(context, target, client, registered, signal);
  const bootstrap = need.bootstrap || carried === 'lost';
  const asked = bootstrap ? await ensureImportToken(context, cluster, signal) : undefined;
  const token = asked && (await tools.tokens.issued(asked, tools));
  const values = token && (await importValues(context, token, signal));
  if (token !== undefined && values === undefined) {
    const message = 'waiting for the values of the import token';
    await report(context, keyOf(cluster), { status: 'False', reason: reasons.waitingForToken, message }, {}, signal);
    return; // the token's event comes when it is issued
  }
  const manifests: KubeObject[] = [
    ...synthAgent({
      ...props,
      hubAddress: address,
      ...(values === undefined ? {} : { bootstrap: bootstrapFor(values, address, cluster) }),
    }),
    ...(await pullSecrets(context, cluster, signal)),
    ...(typeof carried === 'object' ? [carried] : []),
  ];
  try {
    await takeOver(context, target, client, signal);
    if (props.program === 'fleet') {
      await leaveLastingCredential(context, cluster, client, signal);
      if (registered) await readdress(cluster, client, address, signal);
    }
    await applyAgent(client, manifests, target.own, signal);
  } catch (error) {
    throw explainApplyError(error, target, client.server);
  }
  await namespace;
  const applied: Applied = { revision, token: token === undefined ? '' : shortUid(token.metadata.uid ?? '') };
  await reportApplied(context, context.clusters.get(keyOf(cluster)) ?? cluster, applied, address, signal);
  return sooner(renewLater(token, bootstrap), { requeueAfterMs: durations.agentLookFirst });
}

/** What a hub of Fleet has left, where it has installed the agent and we have not yet. */
async function takeOver(
  context: HubContext,
  { cluster, own }: Target,
  client: KubeClient,
  signal: AbortSignal,
): Promise<void> {
  if (appliedOf(cluster) !== undefined || cluster.status?.agentDeployedGeneration == null) return;
  await removeAgentBundle(context, cluster, signal);
  if (!own) await removeStatefulAgent(client, agentNamespaceOf(cluster), signal);
}

/** A registered agent that moves takes its credential along; `lost` when it has to register. */
async function carryOver(
  context: HubContext,
  { cluster, own }: Target,
  client: KubeClient,
  registered: boolean,
  signal: AbortSignal,
): Promise<Secret | 'lost' | undefined> {
  const moves = leftNamespaces(cluster).length > 0;
  if (moves) await noteMove(context, cluster, signal);
  // an agent of the hub's own cluster may have been taken away with its credential (localAgentDisabled)
  const asks = registered && (moves || (own && appliedOf(cluster) === undefined));
  if (!asks) return undefined;
  try {
    return (await carriedCredential(cluster, client, signal)) ?? 'lost';
  } catch (error) {
    throw explainEdgeError(error, client.server);
  }
}

async function leave(context: HubContext, target: Target, signal: AbortSignal): Promise<void> {
  const client = await target.connect();
  // in its own cluster the hub's namespace is not the agent's to remove, whoever put it there
  const keep = isLocal(context, target.cluster) ? context.systemNamespace : undefined;
  try {
    await finishMove(context, target.cluster, client, { keep, own: target.own }, signal);
  } catch (error) {
    throw explainEdgeError(error, client.server);
  }
}

/** The local agent is not wanted (Fleet: localAgentDisabled). */
async function removeLocalAgent(context: HubContext, target: Target, signal: AbortSignal): Promise<void> {
  const { cluster, own } = target;
  const message = 'the agent of the hub’s own cluster is disabled (bootstrap.localAgentDisabled)';
  if (cluster.status?.agentDeployedGeneration != null) {
    const client = own ? context.client : await connectLocal(context, target);
    try {
      for (const namespace of [...leftNamespaces(cluster), agentNamespaceOf(cluster)]) {
        if (namespace === context.systemNamespace) continue;
        await removeAgent(client, synthAgent({ namespace, image: 'none' }), { own }, signal);
      }
    } catch (error) {
      throw explainEdgeError(error, client.server);
    }
  }
  const condition = { status: 'True', reason: reasons.done, message };
  await report(context, keyOf(cluster), condition, { agentDeployedGeneration: undefined }, signal);
}

/** Only the hub's own cluster loses its agent this way: a kubeconfig that leads elsewhere is another's. */
async function connectLocal(context: HubContext, target: Target): Promise<KubeClient> {
  const client = await target.connect();
  const { metadata } = await client.get(Namespaces, { name: defaults.clientIdNamespace });
  if (metadata.uid === context.ownUid) return client;
  const message =
    'the kubeconfig of the local Cluster leads to another cluster than the hub’s own; its agent is left there';
  throw new ImportFault(reasons.selfRegistration, message, true);
}

/** Nothing to apply: only look after the token while no agent has used it. */
async function keepToken(
  context: HubContext,
  token: ClusterRegistrationToken | undefined,
  bootstrap: boolean,
  signal: AbortSignal,
): Promise<Result | void> {
  if (!bootstrap || token === undefined) return;
  // its event makes the next one
  if (endsSoon(token, Date.now())) await expire(context, token, signal);
  else return renewLater(token, bootstrap);
}

function renewLater(token: ClusterRegistrationToken | undefined, bootstrap: boolean): Result | undefined {
  if (token === undefined || !bootstrap) return undefined;
  const requeueAfterMs = renewIn(token, Date.now());
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
}
