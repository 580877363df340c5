/**
 * A hub that changed its address or its certificates keeps its agents: they go on with the credential that they have.
 * A place is taken only after it has accepted that credential, so at no time is there an agent that cannot go back.
 */
import type { HubAddress } from '../../../api/fleet/hub-address.ts';
import { certificatesOf, parseHubAddress, sameCertificates } from '../../../api/fleet/hub-address.ts';
import { configMapNames, hubAddressKey } from '../../../api/fleet/constants.ts';
import { ConfigMaps } from '../../../api/kubernetes/core.ts';
import type { Bootstrap } from './bootstrap.ts';
import { type Link, heartbeat, openLink } from './connection.ts';
import { type AgentContext, attempt } from './context.ts';
import { type AgentCredential, storeCredential } from './credential.ts';
import { type AgentError, isAgentError } from './failure.ts';
import { signerOf } from '../../kube/token-claims.ts';
import { readAgentConfig, trustedCa } from './register.ts';

/** Where the edge's ConfigMap says the hub is: written by a hub that manages this cluster by its kubeconfig. */
export async function announcedAddress(context: AgentContext, signal: AbortSignal): Promise<HubAddress | undefined> {
  const { edge, namespace } = context;
  const key = { namespace, name: configMapNames.agent };
  const map = await attempt(edge, 'edge', () => edge.find(ConfigMaps, key, { signal }));
  return parseHubAddress(map?.data?.[hubAddressKey]);
}

/**
 * Where a bootstrap Secret says that this very hub is; `undefined` when it may be another one, which must never see our
 * credential. Two addresses are one hub when the same key has signed our token and that of the Secret.
 */
export function sameHub(credential: AgentCredential, { values }: Bootstrap): HubAddress | undefined {
  if (values.clusterNamespace !== credential.clusterNamespace) return undefined;
  const signer = signerOf(values.token);
  const same =
    values.apiServerURL === credential.config.server ||
    (signer !== undefined && signer === signerOf(credential.config.token ?? ''));
  return same ? { url: values.apiServerURL, ca: values.apiServerCA } : undefined;
}

/**
 * The link at `place`, or the same link when it is there already, is not meant, or when that place does not accept us
 * (yet). New certificates that the hub does not use yet are trusted beside the old ones until it does.
 */
export async function followHub(
  context: AgentContext,
  link: Link,
  place: HubAddress | undefined,
  signal: AbortSignal,
): Promise<Link> {
  if (place === undefined || !isMeant(link, place)) return link;
  const { config } = link.credential;
  if (isAt(link, place.url, place.ca)) return link;
  try {
    const { agentTLSMode = '' } = await readAgentConfig(context, signal);
    const trusted = await trustedCa(context, { apiServerURL: place.url, apiServerCA: place.ca }, agentTLSMode, signal);
    if (isAt(link, place.url, trusted)) return link;
    return await move(context, link, { server: place.url, ca: trusted }, signal);
  } catch (error) {
    if (!isAgentError(error) || signal.aborted) throw error;
    if (place.url === config.server && config.ca !== undefined && isAgentError(error, 'HubUntrusted')) {
      return await trustBoth(context, link, config.ca, place.ca, signal);
    }
    if (link.broken !== true) context.status.warned(error);
    return link;
  }
}

/** A way back to a hub that is not where it was: the places that the edge knows of. `undefined` when none accepts us. */
export async function findHub(
  context: AgentContext,
  credential: AgentCredential,
  bootstrap: Bootstrap | AgentError | undefined,
  signal: AbortSignal,
): Promise<Link | undefined> {
  const places = [
    await announcedAddress(context, signal),
    bootstrap === undefined || isAgentError(bootstrap) ? undefined : sameHub(credential, bootstrap),
  ];
  for (const place of places) {
    const link: Link = { hub: context.connect(credential.config), credential, broken: true };
    const found = await followHub(context, link, place, signal);
    if (found !== link) return found;
    await link.hub.close();
  }
  return undefined;
}

/** Whether a fault may come from looking for the hub in the wrong place. */
export function isAstray(error: unknown): error is AgentError {
  return isAgentError(error, 'HubUnreachable', 'HubUntrusted', 'HubNotKubernetes');
}

function isMeant({ credential }: Link, { url, replaces }: HubAddress): boolean {
  return replaces === undefined || credential.config.server === url || replaces.includes(credential.config.server);
}

function isAt({ credential: { config } }: Link, server: string, ca: string | undefined): boolean {
  return config.server === server && sameCertificates(config.ca, ca);
}

/** Used once, then stored, then the old connection goes. */
async function move(
  context: AgentContext,
  link: Link,
  to: { server: string; ca: string | undefined },
  signal: AbortSignal,
): Promise<Link> {
  const { ca: _, ...config } = link.credential.config;
  const credential: AgentCredential = {
    ...link.credential,
    config: { ...config, server: to.server, ...(to.ca === undefined ? {} : { ca: to.ca }) },
  };
  const moved = openLink(context, credential);
  try {
    await heartbeat(context, moved, signal);
    await attempt(context.edge, 'edge', () => storeCredential(context.edge, context.namespace, credential));
  } catch (error) {
    await moved.hub.close();
    throw error;
  }
  await link.hub.close();
  context.status.succeeded('HubFollowed', `the hub is at ${to.server} with the certificates it announced`, true);
  return moved;
}

async function trustBoth(
  context: AgentContext,
  link: Link,
  current: string,
  announced: string,
  signal: AbortSignal,
): Promise<Link> {
  const both = `${certificatesOf(current, announced).join('\n')}\n`;
  if (link.broken === true || sameCertificates(current, both)) return link;
  try {
    return await move(context, link, { server: link.credential.config.server, ca: both }, signal);
  } catch (error) {
    if (!isAgentError(error) || signal.aborted) throw error;
    context.status.warned(error);
    return link;
  }
}
