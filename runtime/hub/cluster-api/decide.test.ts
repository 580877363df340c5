import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Situation, Want } from './decide.ts';
import { decide } from './decide.ts';
import type { Registration } from './registration.ts';
import { registrationFor } from './registration.ts';
import { aRegistration, aRule, aSource } from './testdata/sources.ts';

const nowMs = Date.parse('2026-01-02T00:00:00Z');
const source = aSource('east');
const target = { workspace: 'fleet-default', name: 'east' };
const registration = registrationFor(aRule('all'), source, target, undefined) as Registration;
const want: Want = { rule: 'all', suspended: false, registration };
const fault = { reason: 'NameTaken', message: 'taken' };

function situation(more: Partial<Situation> = {}): Situation {
  return { source, held: false, registered: [], want, policyOf: () => undefined, nowMs, ...more };
}
const steps = (more: Partial<Situation>) => decide(situation(more)).steps.map((step) => step.do);
const deleted = aSource('east', { deletedAtMs: nowMs - 1000 });

describe('a source that a rule selects', () => {
  it('given a ready one, when it is new, then it is held before it is registered', () => {
    expect(steps({})).toEqual(['hold', 'register']);
  });

  it('given one that is not ready, when looked at, then nothing happens to it, and it is let go if it was held', () => {
    const notReady = aSource('east', { notReady: { reason: 'WaitingForControlPlane', message: 'wait' } });
    expect(decide(situation({ source: notReady }))).toEqual({
      steps: [],
      progress: { stage: 'waiting', fault: notReady.notReady },
    });
    expect(steps({ source: notReady, held: true })).toEqual(['release']);
  });

  it('given one that stops being ready, when it is registered, then it stays so', () => {
    const notReady = aSource('east', { notReady: { reason: 'WaitingForControlPlane', message: 'wait' } });
    expect(steps({ source: notReady, held: true, registered: [aRegistration(source)] })).toEqual(['register']);
  });

  it('given a fault, when it is registered already, then nothing of it is touched', () => {
    expect(steps({ want: { ...want, registration: fault }, held: true, registered: [aRegistration(source)] })).toEqual(
      [],
    );
    expect(decide(situation({ want: { ...want, registration: fault } })).progress).toEqual({ stage: 'failed', fault });
  });

  it('given a paused one, when registered, then only that is paused; when resumed, then that goes on', () => {
    const paused = aSource('east', { paused: true });
    expect(steps({ source: paused })).toEqual([]);
    expect(steps({ source: paused, held: true, registered: [aRegistration(source)] })).toEqual(['pause']);
    expect(steps({ source: paused, held: true, registered: [aRegistration(source, { paused: true })] })).toEqual([]);
    const resumed = decide(situation({ held: true, registered: [aRegistration(source, { paused: true })] })).steps;
    expect(resumed.map((step) => step.do)).toEqual(['register', 'pause']);
    expect(resumed[1]).toMatchObject({ paused: false });
  });

  it('given a suspended rule, when its sources change, then nothing happens; when they are deleted, they are detached', () => {
    const suspended = { ...want, suspended: true };
    expect(steps({ want: suspended })).toEqual([]);
    expect(steps({ want: suspended, held: true, registered: [aRegistration(source)] })).toEqual([]);
    expect(steps({ want: suspended, source: deleted, held: true, registered: [aRegistration(source)] })).toEqual([
      'remove',
    ]);
  });

  it('given that another name is wanted, when it is registered, then the old registration ends first', () => {
    const old = aRegistration(source, { key: 'fleet-default/old' });
    expect(steps({ held: true, registered: [old] })).toEqual(['remove']);
    expect(steps({ held: true, registered: [{ ...old, stage: 'detaching' }] })).toEqual([]);
    expect(steps({ held: true, registered: [] })).toEqual(['register']);
  });

  it('given one made anew under the same name, when the old one is registered, then that ends first, kept or detached', () => {
    const former = aRegistration(aSource('east', { uid: 'former' }));
    expect(steps({ registered: [former] })).toEqual(['remove']);
    expect(steps({ registered: [{ ...former, loss: { ...former.loss, action: 'Keep' } }] })).toEqual(['keep']);
    expect(steps({ registered: [{ ...former, loss: { ...former.loss, delayMs: 5000 } }] })).toEqual(['remove']);
  });
});

describe('a source that goes', () => {
  it('given that it is registered, when deleted, then it is detached and held until that is done', () => {
    expect(steps({ source: deleted, held: true, registered: [aRegistration(source)] })).toEqual(['remove']);
    const waiting = decide(
      situation({ source: deleted, held: true, registered: [aRegistration(source, { stage: 'detaching' })] }),
    );
    expect(waiting.steps).toEqual([]);
    expect(waiting.againMs).toBe(59_000);
    expect(steps({ source: deleted, held: true })).toEqual(['release']);
    expect(decide(situation({ source: deleted })).progress).toBeUndefined();
  });

  it('given that nothing is left on its cluster, when the hub still clears up, then it is let go, and takes no new one', () => {
    const clearing = aRegistration(source, { stage: 'detaching', cleared: true });
    const decision = decide(situation({ source: deleted, held: true, registered: [clearing] }));
    expect(decision).toEqual({ steps: [{ do: 'release', overdue: false }], progress: { stage: 'detaching' } });
    const beside = aRegistration(source, { key: 'fleet-default/old', stage: 'detaching' });
    expect(steps({ source: deleted, held: true, registered: [clearing, beside] })).toEqual([]);
    const anew = aSource('east', { uid: 'anew' });
    expect(steps({ source: anew, registered: [clearing] })).toEqual([]);
    expect(steps({ registered: [clearing] })).toEqual([]);
  });

  it('given that it cannot be detached, when its time is up, then it is let go all the same', () => {
    const late = aSource('east', { deletedAtMs: nowMs - 60_000 });
    const detaching = aRegistration(source, { stage: 'detaching' });
    expect(decide(situation({ source: late, held: true, registered: [detaching] })).steps).toEqual([
      { do: 'release', overdue: true },
    ]);
    // what the rule says now counts, while there is one
    const policyOf = () => ({ action: 'Detach', delayMs: 0, timeoutMs: 120_000 }) as const;
    expect(steps({ source: late, held: true, registered: [detaching], policyOf })).toEqual([]);
  });

  it('given a delay, when deleted, then it is let go at once, and detached when the delay is over', () => {
    const loss = { action: 'Detach', delayMs: 10_000, timeoutMs: 60_000 } as const;
    const first = decide(situation({ source: deleted, held: true, registered: [aRegistration(source, { loss })] }));
    expect(first.steps.map((step) => step.do)).toEqual(['lose', 'release']);
    expect(first.againMs).toBe(10_000);
    const later = {
      source: undefined,
      want: undefined,
      registered: [aRegistration(source, { loss, lostAtMs: nowMs - 9000 })],
    };
    expect(decide(situation(later))).toEqual({ steps: [], progress: undefined, againMs: 1000 });
    expect(steps({ ...later, nowMs: nowMs + 1000 })).toEqual(['remove']);
  });

  it('given that it comes back within the delay, when selected again, then it is no longer lost', () => {
    expect(steps({ held: true, registered: [aRegistration(source, { lostAtMs: nowMs })] })).toEqual([
      'lose',
      'register',
    ]);
  });

  it('given that it is to be kept, when deleted or unselected, then the registration stays and the source is let go', () => {
    const kept = aRegistration(source, { loss: { action: 'Keep', delayMs: 0, timeoutMs: 1 } });
    expect(steps({ source: deleted, held: true, registered: [kept] })).toEqual(['keep', 'release']);
    expect(steps({ want: undefined, held: true, registered: [kept] })).toEqual(['keep', 'release']);
  });

  it('given that no rule selects it any more, when registered, then it is detached before it is let go', () => {
    expect(steps({ want: undefined, held: true, registered: [aRegistration(source)] })).toEqual(['remove']);
    expect(steps({ want: undefined, held: true, registered: [aRegistration(source, { stage: 'detaching' })] })).toEqual(
      [],
    );
    expect(steps({ want: undefined, held: true })).toEqual(['release']);
    expect(steps({ want: undefined })).toEqual([]);
  });

  it('given that it went without being held, when its absence is sure, then it is detached', () => {
    expect(steps({ source: undefined, registered: [aRegistration(source)] })).toEqual(['remove']);
  });
});

describe('whatever the situation', () => {
  const registered = fc.record({
    uid: fc.constantFrom(source.uid, 'former'),
    key: fc.constantFrom('fleet-default/east', 'fleet-default/old'),
    stage: fc.constantFrom('pending', 'registered', 'failed', 'detaching'),
    paused: fc.boolean(),
    lostAtMs: fc.option(fc.constantFrom(nowMs - 1000, nowMs - 100_000), { nil: undefined }),
    action: fc.constantFrom('Detach', 'Keep'),
    delayMs: fc.constantFrom(0, 50_000),
  });
  const situations = fc
    .record({
      there: fc.boolean(),
      paused: fc.boolean(),
      ready: fc.boolean(),
      deletedAtMs: fc.option(fc.constantFrom(nowMs - 1000, nowMs - 100_000), { nil: undefined }),
      held: fc.boolean(),
      wanted: fc.constantFrom('none', 'fault', 'suspended', 'yes'),
      registered: fc.array(registered, { maxLength: 3 }),
    })
    .map(({ there, paused, ready, deletedAtMs, held, wanted, registered: list }): Situation => ({
      source: there
        ? aSource('east', {
            paused,
            ...(ready ? {} : { notReady: fault }),
            ...(deletedAtMs === undefined ? {} : { deletedAtMs }),
          })
        : undefined,
      held: there && held,
      want:
        wanted === 'none'
          ? undefined
          : { ...want, suspended: wanted === 'suspended', ...(wanted === 'fault' ? { registration: fault } : {}) },
      registered: list.map(({ action, delayMs, lostAtMs, ...one }) =>
        aRegistration(source, {
          ...(one as object),
          ...(lostAtMs === undefined ? {} : { lostAtMs }),
          loss: { action: action as 'Keep', delayMs, timeoutMs: 60_000 },
        }),
      ),
      policyOf: () => undefined,
      nowMs,
    }));

  it('then nothing is registered for a source that is not held, gone, going, paused, or registered elsewhere', () => {
    fc.assert(
      fc.property(situations, (given) => {
        const does = decide(given).steps.map((step) => step.do);
        const at = does.indexOf('register');
        if (at < 0) return;
        expect(given.held || does.indexOf('hold') < at).toBe(true);
        if (!given.held) expect(does.indexOf('hold')).toBeGreaterThanOrEqual(0);
        expect(given.source?.deletedAtMs).toBeUndefined();
        expect(given.source?.paused).toBe(false);
        expect(given.registered.every(({ key, uid }) => key === 'fleet-default/east' && uid === source.uid)).toBe(true);
      }),
    );
  });

  it('then a source that is being deleted is let go by an event or a time, never held for ever', () => {
    fc.assert(
      fc.property(situations, (given) => {
        if (!given.held || given.source?.deletedAtMs === undefined) return;
        const { steps: todo, againMs } = decide(given);
        expect(todo.some((step) => step.do === 'release') || (againMs ?? Number.POSITIVE_INFINITY) <= 60_000).toBe(
          true,
        );
      }),
    );
  });

  it('then what is detached was made for this source, and is not being detached already', () => {
    fc.assert(
      fc.property(situations, (given) => {
        for (const step of decide(given).steps) {
          if (step.do !== 'remove' && step.do !== 'keep') continue;
          expect(given.registered).toContain(step.registered);
          expect(step.registered.stage).not.toBe('detaching');
        }
      }),
    );
  });
});
