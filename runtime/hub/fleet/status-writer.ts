/**
 * The one way in which the hub writes a status: only the fields that changed, one write at a time per object, computed
 * from the newest state. Agents write `status.agent` beside it; a whole-status overwrite would move it backwards.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { parseKey } from '../../../api/resource.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Overlay } from './overlay.ts';

export interface StatusWriter<T extends KubeObject> {
  /**
   * Calls `change` with the newest state and writes what its result differs in. Nothing is written when nothing differs,
   * when `change` gives `undefined`, or when the object is not known. Returns the state after.
   */
  update(
    key: string,
    change: (object: T) => StatusOf<T> | undefined,
    signal?: AbortSignal,
  ): Promise<{ before: T; after: T } | undefined>;
}

type StatusOf<T> = T extends { status?: infer S } ? NonNullable<S> : never;

export function createStatusWriter<T extends KubeObject & { status?: unknown }>(
  client: KubeClient,
  type: ResourceType<T>,
  overlay: Overlay<T>,
  fieldManager: string,
): StatusWriter<T> {
  const running = new Map<string, Promise<unknown>>();
  return {
    async update(key, change, signal) {
      const previous = running.get(key) ?? Promise.resolve();
      const mine = previous.then(async () => {
        const before = overlay.get(key);
        const wanted = before && change(before);
        if (before === undefined || wanted === undefined) return undefined;
        const patch = difference(before.status ?? {}, wanted);
        if (patch === undefined) return { before, after: before };
        // the UID lets a write to an object that was deleted and made anew fail instead of landing on the new one
        const body = { metadata: { uid: before.metadata.uid }, status: patch };
        const options = { type: 'merge', subresource: 'status', fieldManager, ...(signal ? { signal } : {}) } as const;
        const after = await client.patch(type, parseKey(key), body, options);
        overlay.remember(after);
        return { before, after };
      });
      const settled = mine.catch(() => undefined);
      running.set(key, settled);
      try {
        return await mine;
      } finally {
        if (running.get(key) === settled) running.delete(key);
      }
    },
  };
}

/**
 * The merge patch (RFC 7386) that turns `before` into `after`, or `undefined` when they are equal. Lists are replaced
 * whole; an absent field and `undefined` are the same.
 */
export function difference(before: unknown, after: unknown): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  const old = isRecord(before) ? before : {};
  const wanted = isRecord(after) ? after : {};
  for (const key of new Set([...Object.keys(old), ...Object.keys(wanted)])) {
    const [a, b] = [old[key], wanted[key]];
    if (isDeepStrictEqual(a, b)) continue;
    if (b === undefined) patch[key] = null;
    else if (isRecord(a) && isRecord(b)) {
      const nested = difference(a, b);
      if (nested !== undefined) patch[key] = nested;
    } else patch[key] = b;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
