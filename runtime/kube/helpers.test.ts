import { describe, expect, it, vi } from 'vitest';
import type { ConfigMap } from '../../api/kubernetes/core.ts';
import { ConfigMaps } from '../../api/kubernetes/core.ts';
import { backoffMs, pause } from './backoff.ts';
import type { CacheEvent } from './cache.ts';
import type { KubeClient } from './client.ts';
import { addFinalizer, hasFinalizer, isDeleting, removeFinalizer } from './finalizers.ts';
import { freezeDeep } from './freeze.ts';
import { microTime } from './micro-time.ts';
import { controllerOf, isOwnedBy, ownerReference } from './owner.ts';
import { objectPath, withQuery } from './paths.ts';
import { annotationsChanged, any, generationChanged, labelsChanged } from './predicates.ts';
import { createTokenBucket } from './token-bucket.ts';

const object = (metadata: Partial<ConfigMap['metadata']> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'n', uid: 'u1', resourceVersion: '7', ...metadata },
});

describe('owner references', () => {
  it('name the owner, and as controller block its deletion', () => {
    const plain = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u1' };
    expect(ownerReference(ConfigMaps, object())).toEqual(plain);
    const reference = ownerReference(ConfigMaps, object(), { controller: true });
    expect(reference).toEqual({ ...plain, controller: true, blockOwnerDeletion: true });
    const owned = object({ uid: 'u2', ownerReferences: [reference] });
    expect([isOwnedBy(owned, object()), isOwnedBy(owned, object({ uid: 'u3' }))]).toEqual([true, false]);
    expect(controllerOf(owned)).toBe(reference);
    expect(() => ownerReference(ConfigMaps, { ...object(), metadata: { name: 'a' } })).toThrow('must be stored');
  });
});

describe('finalizers', () => {
  it('are changed one at a time, under the version that was read, and only when needed', async () => {
    const patches: unknown[] = [];
    const client = {
      patch: (_type: unknown, key: unknown, patch: unknown) => {
        patches.push([key, patch]);
        return Promise.resolve(object());
      },
    } as unknown as KubeClient;
    const held = object({ finalizers: ['theirs', 'ours'], deletionTimestamp: microTime() });
    await addFinalizer(client, ConfigMaps, held, 'ours');
    await removeFinalizer(client, ConfigMaps, held, 'other');
    expect(patches).toEqual([]);
    await addFinalizer(client, ConfigMaps, object({ finalizers: ['theirs'] }), 'ours');
    await removeFinalizer(client, ConfigMaps, held, 'ours');
    const key = { name: 'a', namespace: 'n' };
    expect(patches).toEqual([
      [key, { metadata: { finalizers: ['theirs', 'ours'], resourceVersion: '7' } }],
      [key, { metadata: { finalizers: ['theirs'], resourceVersion: '7' } }],
    ]);
    expect([hasFinalizer(held, 'ours'), isDeleting(held), isDeleting(object())]).toEqual([true, true, false]);
  });
});

describe('predicates', () => {
  const update = (previous: ConfigMap, now: ConfigMap): CacheEvent => ({
    type: 'updated',
    object: now,
    previous,
    initial: false,
  });

  it('let through updates of what they look at, and everything that is no update', () => {
    const status = update(object({ generation: 1 }), object({ generation: 1 }));
    const spec = update(object({ generation: 1 }), object({ generation: 2 }));
    const deleting = update(object({ generation: 1 }), object({ generation: 1, deletionTimestamp: 'now' }));
    const labels = update(object({ labels: { a: '1' } }), object({ labels: { a: '2' } }));
    const annotations = update(object(), object({ annotations: { a: '2' } }));
    const events = [status, spec, deleting, labels, annotations];
    expect(events.map(generationChanged)).toEqual([false, true, true, false, false]);
    expect(events.map(labelsChanged)).toEqual([false, false, false, true, false]);
    expect(events.map(annotationsChanged)).toEqual([false, false, false, false, true]);
    expect(events.map(any(generationChanged, labelsChanged))).toEqual([false, true, true, true, false]);
    expect(generationChanged({ type: 'deleted', object: object(), initial: false })).toBe(true);
  });
});

describe('paths', () => {
  it('cannot be left by a name', () => {
    expect(objectPath(ConfigMaps, { namespace: 'n', name: '../secrets/x' })).toBe(
      '/api/v1/namespaces/n/configmaps/..%2Fsecrets%2Fx',
    );
    expect(() => objectPath(ConfigMaps, { namespace: '..', name: 'x' })).toThrow('is no name');
    expect(() => objectPath(ConfigMaps, { name: 'x' })).toThrow('has no namespace');
    expect(() => objectPath(ConfigMaps, { namespace: 'n', name: '' })).toThrow('has no name');
  });

  it('carry a query without what is undefined', () => {
    expect(withQuery('/x', { a: 'b=c,d', e: undefined, f: 1 })).toBe('/x?a=b%3Dc%2Cd&f=1');
  });
});

describe('waiting', () => {
  it('grows, has an end, and can be spread', () => {
    const options = { baseMs: 10, maxMs: 65 };
    expect([0, 1, 2, 3, 4, 5000].map((failures) => backoffMs(failures, options))).toEqual([0, 10, 20, 40, 65, 65]);
    expect(backoffMs(2, { ...options, jitter: 0.5 }, () => 0.5)).toBe(15);
  });

  it('ends early with the reason of its signal', async () => {
    const reason = new Error('enough');
    const stop = new AbortController();
    const waiting = pause(60_000, stop.signal);
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(pause(1, stop.signal)).rejects.toBe(reason);
  });

  it('lets a burst through a token bucket and then so many per second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const bucket = createTokenBucket(10, 3);
      const passed: number[] = [];
      const calls = Array.from({ length: 6 }, () => bucket.take().then(() => passed.push(performance.now())));
      const start = performance.now();
      await vi.advanceTimersByTimeAsync(1000);
      await Promise.all(calls);
      expect(passed.map((at) => Math.round(at - start))).toEqual([0, 0, 0, 100, 200, 300]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('small things', () => {
  it('freezes all the way down', () => {
    const frozen = freezeDeep({ a: [{ b: 1 }] });
    expect(() => frozen.a.push({ b: 2 })).toThrow(TypeError);
    expect(() => Object.assign(frozen.a[0] ?? {}, { b: 2 })).toThrow(TypeError);
  });

  it('writes times with six digits of a second', () => {
    expect(microTime(new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 6)))).toBe('2026-01-02T03:04:05.006000Z');
  });
});
