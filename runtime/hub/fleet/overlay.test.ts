import { describe, expect, it } from 'vitest';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import type { Cache, CacheEvent } from '../../kube/cache.ts';
import { createOverlay } from './overlay.ts';

const secret = (version: number, uid = 'one'): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'ns', uid, resourceVersion: String(version) },
});

/** A cache whose state the test sets. */
function scripted() {
  const handlers: ((event: CacheEvent<Secret>) => void)[] = [];
  let stored: Secret | undefined;
  const cache: Partial<Cache<Secret>> = {
    type: Secrets,
    get: () => stored,
    byIndex: () => (stored === undefined ? [] : [stored]),
    subscribe: (handler) => {
      handlers.push(handler);
      return () => undefined;
    },
  };
  const tell = (type: CacheEvent['type'], object: Secret): void => {
    stored = type === 'deleted' ? undefined : object;
    for (const handler of handlers) handler({ type, object, initial: false });
  };
  return { overlay: createOverlay(cache as Cache<Secret>), tell };
}

describe('reading one’s own writes', () => {
  it('given a write that the cache has not seen, when read, then it is there', () => {
    const { overlay } = scripted();
    overlay.remember(secret(5));
    expect(overlay.get('ns/s')?.metadata.resourceVersion).toBe('5');
  });

  it('given a cache that is newer, when read, then the cache wins', () => {
    const { overlay, tell } = scripted();
    overlay.remember(secret(5));
    tell('added', secret(5));
    tell('updated', secret(9));
    expect(overlay.get('ns/s')?.metadata.resourceVersion).toBe('9');
    expect(overlay.byIndex('any', 'x')).toHaveLength(1);
  });

  it('given a late answer to a write, when the cache is ahead of it, then it does not take the object back', () => {
    const { overlay, tell } = scripted();
    tell('added', secret(9));
    overlay.remember(secret(5));
    expect(overlay.get('ns/s')?.metadata.resourceVersion).toBe('9');
  });

  it('given a write, when it is waited for, then until the cache has it, and no longer than the limit', async () => {
    const { overlay, tell } = scripted();
    overlay.remember(secret(5));
    let seen = false;
    const waiting = overlay.caughtUp('ns/s', 60_000).then(() => (seen = true));
    tell('added', secret(4));
    await Promise.resolve();
    expect(seen).toBe(false);
    tell('updated', secret(5));
    await waiting;
    await overlay.caughtUp('ns/s', 60_000);
    overlay.remember(secret(7));
    await overlay.caughtUp('ns/s', 1);
  });

  it('given a state that is waited for, when it is written or the cache shows it, then it is given, and nothing after the limit', async () => {
    const { overlay, tell } = scripted();
    const { signal } = new AbortController();
    const isNine = ({ metadata }: Secret): boolean => metadata.resourceVersion === '9';
    const waits = [overlay.until('ns/s', isNine, 60_000, signal), overlay.until('ns/s', isNine, 60_000, signal)];
    expect(await overlay.until('ns/s', isNine, 1, signal)).toBeUndefined();
    overlay.remember(secret(5));
    tell('added', secret(9));
    expect((await Promise.all(waits)).map((found) => found?.metadata.resourceVersion)).toEqual(['9', '9']);
    const isTen = ({ metadata }: Secret): boolean => metadata.resourceVersion === '10';
    const written = overlay.until('ns/s', isTen, 60_000, signal);
    overlay.remember(secret(10));
    expect((await written)?.metadata.resourceVersion).toBe('10');
    expect((await overlay.until('ns/s', isTen, 60_000, signal))?.metadata.resourceVersion).toBe('10');
  });

  it('given a state that is waited for, when the process is to end, then nobody waits any longer', async () => {
    const { overlay } = scripted();
    const stop = new AbortController();
    const waiting = overlay.until('ns/s', () => false, 60_000, stop.signal);
    stop.abort(new Error('the end'));
    await expect(waiting).rejects.toThrow('the end');
    await expect(overlay.until('ns/s', () => true, 60_000, stop.signal)).rejects.toThrow('the end');
  });

  it('given an object that was deleted, when read, then it is gone', () => {
    const { overlay, tell } = scripted();
    overlay.remember(secret(5));
    tell('added', secret(5));
    tell('deleted', secret(6));
    expect(overlay.get('ns/s')).toBeUndefined();
  });

  it('given a new object of the same name, when the old one’s end is told late, then the new one stays', () => {
    const { overlay, tell } = scripted();
    tell('added', secret(5, 'old'));
    overlay.remember(secret(8, 'new'));
    tell('deleted', secret(7, 'old'));
    expect(overlay.get('ns/s')?.metadata.uid).toBe('new');
  });
});
