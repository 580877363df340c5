/**
 * Addresses that this hub has had, with the time since when: who registered before the last change has to be told of it.
 * One Secret for all, in the namespace that answers registrations; it outlives the hub, which is often started anew in
 * the moment in which its configuration changes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { HubAddress } from '../../../api/fleet/hub-address.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager, managedLabels } from './context.ts';
import { hubAddress } from './edge-agent.ts';

const name = 'muster-hub-addresses';
const key = 'addresses';
/** Agents that were away for longer than this many changes have to be given a new bootstrap Secret. */
const longest = 10;

export interface Address extends Pick<HubAddress, 'url' | 'ca'> {
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
}

/** Adds the address of the configuration if it is new. The last one is the current one; empty while there is none. */
export async function recordAddress(context: HubContext, signal: AbortSignal): Promise<readonly Address[]> {
  const where = { namespace: context.registrationNamespace, name };
  const found = await context.client.find(Secrets, where, { signal });
  const known = parse(found?.data?.[key]);
  const now = hubAddress(context.config.current, {});
  const last = known.at(-1);
  if (now.url === '' || isDeepStrictEqual(last && { url: last.url, ca: last.ca }, now)) return known;
  const history = [...known, { ...now, sinceMs: Date.now() }].slice(-longest);
  await context.client.apply(
    Secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...where, labels: { ...managedLabels } },
      data: { [key]: Buffer.from(JSON.stringify(history)).toString('base64') },
    },
    { fieldManager: hubFieldManager, signal },
  );
  return history;
}

/** What an agent that registered at this time has to be told; `undefined` when it registered with the current address. */
export function newsFor(history: readonly Address[], registeredMs: number): HubAddress | undefined {
  const current = history.at(-1);
  if (current === undefined || history.length < 2 || registeredMs >= current.sinceMs) return undefined;
  const former = new Set(history.map(({ url }) => url));
  former.delete(current.url);
  return { url: current.url, ca: current.ca, replaces: [...former] };
}

function parse(encoded: string | undefined): Address[] {
  try {
    const list: unknown = JSON.parse(Buffer.from(encoded ?? '', 'base64').toString('utf8'));
    if (!Array.isArray(list)) return [];
    return (list as Partial<Address>[]).filter(
      (each): each is Address =>
        typeof each?.url === 'string' && typeof each.ca === 'string' && typeof each.sinceMs === 'number',
    );
  } catch {
    return [];
  }
}
