import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backoffMs } from './backoff.ts';
import { createMetrics } from './metrics.ts';
import type { WorkItem } from './work-queue.ts';
import { lowPriority, WorkQueue } from './work-queue.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

const microtasks = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
};

describe('a work queue', () => {
  it('holds a key once, however often it is added', async () => {
    // given
    const queue = new WorkQueue();

    // when
    queue.add('a');
    queue.add('b');
    queue.add('a');

    // then
    expect(queue.size).toBe(2);
    expect((await queue.take())?.key).toBe('a');
    expect((await queue.take())?.key).toBe('b');
    expect(queue.size).toBe(0);
  });

  it('hands a key that was added while it is worked on to nobody until it is done', async () => {
    // given
    const queue = new WorkQueue();
    queue.add('a');
    await queue.take();

    // when
    queue.add('a');
    let second: WorkItem | undefined;
    void queue.take().then((item) => (second = item));
    await microtasks();

    // then
    expect(second).toBeUndefined();
    queue.done('a');
    await microtasks();
    expect(second?.key).toBe('a');
  });

  it('gives high priority first, and a key that is raised moves up', async () => {
    const queue = new WorkQueue();
    queue.add('initial', { priority: lowPriority });
    queue.add('raised', { priority: lowPriority });
    queue.add('change');
    queue.add('raised', { priority: 10 });
    expect([await queue.take(), await queue.take(), await queue.take()].map((item) => item?.key)).toEqual([
      'raised',
      'change',
      'initial',
    ]);
  });

  it('waits longer after each failure and starts afresh after forget', () => {
    const queue = new WorkQueue({ backoff: { baseMs: 5, maxMs: 15 } });
    expect([1, 2, 3, 4].map(() => queue.retry('a'))).toEqual([5, 10, 15, 15]);
    queue.forget('a');
    expect(queue.retry('a')).toBe(5);
    expect(queue.retry('b', { atLeastMs: 700 })).toBe(700);
  });

  it('lets workers go at shutdown, drops what waits, and tells when the last one is done', async () => {
    // given
    const queue = new WorkQueue();
    queue.add('running');
    await queue.take();
    queue.add('waiting', { afterMs: 1000 });
    const idle = queue.take();

    // when
    queue.shutDown();
    queue.add('late');

    // then
    expect(await idle).toBeUndefined();
    expect(await queue.take()).toBeUndefined();
    expect(queue.size).toBe(0);
    let drained = false;
    void queue.drained().then(() => (drained = true));
    await microtasks();
    expect(drained).toBe(false);
    queue.done('running');
    await microtasks();
    expect(drained).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('counts under the names of client-go', async () => {
    const metrics = createMetrics();
    const queue = new WorkQueue({ name: 'things', metrics });
    queue.add('a');
    queue.retry('b');
    await queue.take();
    queue.done('a');
    const text = await metrics.text();
    expect(text).toContain('workqueue_depth{name="things",controller="things"} 1');
    expect(text).toContain('workqueue_adds_total{name="things",controller="things"} 2');
    expect(text).toContain('workqueue_retries_total{name="things",controller="things"} 1');
    expect(text).toContain('workqueue_work_duration_seconds_count{name="things",controller="things"} 1');
  });
});

/** What the queue must do, as simply as it can be said: one list, searched from the start. */
class Model {
  now = 0;
  orders = 0;
  queued: { key: string; readyAt: number; priority: number; order: number }[] = [];
  processing: string[] = [];
  failures = new Map<string, number>();
  takers = 0;
  given: string[] = [];

  add(key: string, afterMs: number, priority: number): void {
    const entry = this.queued.find((queued) => queued.key === key);
    const readyAt = this.now + afterMs;
    if (entry === undefined) this.queued.push({ key, readyAt, priority, order: ++this.orders });
    else {
      if (priority > entry.priority) entry.order = ++this.orders;
      entry.readyAt = Math.min(entry.readyAt, readyAt);
      entry.priority = Math.max(entry.priority, priority);
    }
  }

  dispatch(): void {
    while (this.takers > 0) {
      const [next] = this.queued
        .filter((entry) => entry.readyAt <= this.now && !this.processing.includes(entry.key))
        .sort((a, b) => b.priority - a.priority || a.order - b.order);
      if (next === undefined) return;
      this.queued = this.queued.filter((entry) => entry !== next);
      this.processing.push(next.key);
      this.given.push(`${next.key}:${next.priority}:${this.failures.get(next.key) ?? 0}`);
      this.takers -= 1;
    }
  }
}

type Step =
  | { do: 'add'; key: string; afterMs: number; priority: number }
  | { do: 'take' }
  | { do: 'done'; pick: number; failed: boolean }
  | { do: 'wait'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('add' as const),
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    afterMs: fc.constantFrom(0, 0, 3, 20),
    priority: fc.constantFrom(lowPriority, 0, 0, 10),
  }),
  fc.record({ do: fc.constant('take' as const) }),
  fc.record({ do: fc.constant('done' as const), pick: fc.nat(3), failed: fc.boolean() }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 25 }) }),
);

const backoff = { baseMs: 4, maxMs: 30 };

class Pair {
  model = new Model();
  queue = new WorkQueue({ backoff });
  given: string[] = [];

  async perform(step: Step): Promise<void> {
    const { model, queue } = this;
    if (step.do === 'add') {
      model.add(step.key, step.afterMs, step.priority);
      queue.add(step.key, step);
    } else if (step.do === 'take') {
      model.takers += 1;
      void queue.take().then((item) => {
        if (item !== undefined) this.given.push(`${item.key}:${item.priority}:${item.failures}`);
      });
    } else if (step.do === 'done') {
      const key = model.processing[step.pick % Math.max(1, model.processing.length)];
      if (key === undefined) return;
      if (step.failed) {
        const failures = (model.failures.get(key) ?? 0) + 1;
        model.failures.set(key, failures);
        model.add(key, backoffMs(failures, backoff), 0);
        queue.retry(key);
      } else {
        model.failures.delete(key);
        queue.forget(key);
      }
      model.processing = model.processing.filter((busy) => busy !== key);
      queue.done(key);
    } else {
      for (let ms = 0; ms < step.ms; ms += 1) {
        model.now += 1;
        vi.advanceTimersByTime(1);
        model.dispatch();
      }
    }
    model.dispatch();
    await microtasks();
  }
}

describe('a work queue against its model', () => {
  it('gives the same keys in the same order for every sequence of steps', async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const pair = new Pair();
        for (const next of sequence) {
          await pair.perform(next);
          expect(pair.given).toEqual(pair.model.given);
          expect(pair.queue.size).toBe(pair.model.queued.length);
          expect(pair.queue.active).toBe(pair.model.processing.length);
        }
        pair.queue.shutDown();
      }),
      { numRuns: 300 },
    );
  });
});
