/**
 * What is to be done about one source now. Pure: called with the whole state each time, and safe to call again after any
 * of its steps. The order that it keeps: the source is held before it is registered; whatever is registered for it
 * elsewhere, or for one that had its name before, ends before a new registration begins; and the source is let go when
 * nothing of it is registered on its cluster any more, or when its time is up.
 */
import { reasons } from '../../../api/conditions.ts';
import type { Registered } from './registrar.ts';
import type { LossPolicy, Registration } from './registration.ts';
import type { Fault, Source } from './source.ts';
import { isFault } from './source.ts';

/** What the winning rule wants. */
export interface Want {
  readonly rule: string;
  readonly suspended: boolean;
  /** The registration, or why there can be none. */
  readonly registration: Registration | Fault;
}

export interface Situation {
  /** `undefined`: it is known to be gone. */
  readonly source: Source | undefined;
  /** Our finalizer is on it. */
  readonly held: boolean;
  readonly registered: readonly Registered[];
  /** `undefined`: no rule selects it. */
  readonly want: Want | undefined;
  /** What a rule says now of sources that go; `undefined` when the rule is gone. */
  readonly policyOf: (rule: string) => LossPolicy | undefined;
  readonly nowMs: number;
}

export type Step =
  | { readonly do: 'hold' }
  | { readonly do: 'register'; readonly registration: Registration }
  | { readonly do: 'pause'; readonly registered: Registered; readonly paused: boolean }
  | { readonly do: 'lose'; readonly registered: Registered; readonly atMs: number | undefined }
  | { readonly do: 'remove'; readonly registered: Registered }
  | { readonly do: 'keep'; readonly registered: Registered }
  /** `overdue`: although something is still registered for it. */
  | { readonly do: 'release'; readonly overdue: boolean };

/** How far the registration of a selected source is. */
export interface Progress {
  readonly stage: 'waiting' | 'pending' | 'registered' | 'failed' | 'detaching';
  readonly fault?: Fault;
}

export interface Decision {
  readonly steps: readonly Step[];
  /** Look again after this, though nothing changes. */
  readonly againMs?: number;
  /** `undefined`: no rule selects it. */
  readonly progress: Progress | undefined;
}

export function decide(situation: Situation): Decision {
  const { source, want } = situation;
  if (source === undefined || source.deletedAtMs !== undefined || want === undefined) return end(situation);
  if (want.suspended) return { steps: [], progress: suspended(situation.registered) };
  return go(situation, source, want.registration);
}

function suspended(registered: readonly Registered[]): Progress {
  const [current] = registered;
  if (current !== undefined) return progressOf(current);
  return { stage: 'waiting', fault: { reason: reasons.suspended, message: 'the rule is suspended' } };
}

/** The source is there, and a rule wants it registered. */
function go({ held, registered, policyOf }: Situation, source: Source, wanted: Registration | Fault): Decision {
  const mine = registered.filter(({ uid }) => uid === source.uid);
  if (source.paused) return paused(mine, held, registered);
  const former = registered.filter(({ uid }) => uid !== source.uid);
  if (former.length > 0) return endFormer(former, policyOf);
  if (isFault(wanted)) return refused(mine, held, wanted);
  const key = `${wanted.workspace}/${wanted.name}`;
  const elsewhere = mine.filter((each) => each.key !== key);
  if (elsewhere.length > 0) return { steps: removals(elsewhere), progress: { stage: 'detaching' } };
  const current = mine.find((each) => each.key === key);
  if (current?.stage === 'detaching') return { steps: [], progress: { stage: 'detaching' } };
  if (current === undefined && source.notReady !== undefined) return refused(mine, held, source.notReady, 'waiting');
  return {
    steps: [
      ...(held ? [] : [{ do: 'hold' } as const]),
      ...(current?.lostAtMs === undefined ? [] : [{ do: 'lose', registered: current, atMs: undefined } as const]),
      { do: 'register', registration: wanted },
      ...(current?.paused === true ? [{ do: 'pause', registered: current, paused: false } as const] : []),
    ],
    progress: current === undefined ? { stage: 'pending' } : progressOf(current),
  };
}

/** Nothing changes while the source is paused, except that its registration is, too. */
function paused(mine: readonly Registered[], held: boolean, all: readonly Registered[]): Decision {
  const running = mine.filter((each) => !each.paused && each.stage !== 'detaching');
  const fault = { reason: reasons.sourcePaused, message: 'the source is paused' };
  const [current] = mine;
  return {
    steps: [
      ...running.map((each): Step => ({ do: 'pause', registered: each, paused: true })),
      ...(held && all.length === 0 ? [{ do: 'release', overdue: false } as const] : []),
    ],
    progress: current === undefined ? { stage: 'waiting', fault } : progressOf(current),
  };
}

/** Registrations of a source that had this one's name before: they end as if it had been deleted, but without delay. */
function endFormer(former: readonly Registered[], policyOf: Situation['policyOf']): Decision {
  const kept = former.filter((each) => each.stage !== 'detaching' && policyFor(each, policyOf).action === 'Keep');
  return {
    steps: [
      ...kept.map((each): Step => ({ do: 'keep', registered: each })),
      ...removals(former.filter((each) => !kept.includes(each))),
    ],
    progress: { stage: 'detaching' },
  };
}

/** It cannot be registered; what is registered already stays as it is. */
function refused(
  mine: readonly Registered[],
  held: boolean,
  fault: Fault,
  stage: 'failed' | 'waiting' = 'failed',
): Decision {
  const release = held && mine.length === 0;
  return { steps: release ? [{ do: 'release', overdue: false }] : [], progress: { stage, fault } };
}

/** The source is gone or going, or no rule selects it any more. */
function end({ source, held, registered, want, policyOf, nowMs }: Situation): Decision {
  const steps: Step[] = [];
  const times: number[] = [];
  const left: { each: Registered; delayed: boolean; policy: LossPolicy }[] = [];
  for (const each of registered) {
    const policy = policyFor(each, policyOf);
    if (each.cleared === true) continue;
    if (each.stage === 'detaching') left.push({ each, delayed: false, policy });
    else if (policy.action === 'Keep') steps.push({ do: 'keep', registered: each });
    else {
      const dueMs = (each.lostAtMs ?? nowMs) + policy.delayMs;
      const delayed = dueMs > nowMs;
      left.push({ each, delayed, policy });
      if (!delayed) steps.push({ do: 'remove', registered: each });
      else {
        times.push(dueMs);
        if (each.lostAtMs === undefined) steps.push({ do: 'lose', registered: each, atMs: nowMs });
      }
    }
  }
  if (held && source !== undefined) {
    const untilMs = letGoAt(source, left);
    if (untilMs <= nowMs) steps.push({ do: 'release', overdue: left.some(({ delayed }) => !delayed) });
    else if (Number.isFinite(untilMs)) times.push(untilMs);
  }
  // one that was let go is nobody's any more, however long its own end takes
  const ends = left.length > 0 || registered.some(({ cleared }) => cleared === true);
  const progress: Progress | undefined = want !== undefined && ends ? { stage: 'detaching' } : undefined;
  return { steps, progress, ...(times.length === 0 ? {} : { againMs: Math.min(...times) - nowMs }) };
}

/** When the source may go: at once if nothing is registered for it that its end would harm. Infinity: after an event. */
function letGoAt(source: Source, left: readonly { delayed: boolean; policy: LossPolicy }[]): number {
  if (left.length === 0) return 0;
  const { deletedAtMs } = source;
  if (deletedAtMs === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(...left.map(({ delayed, policy }) => (delayed ? 0 : deletedAtMs + policy.timeoutMs)));
}

function policyFor(each: Registered, policyOf: Situation['policyOf']): LossPolicy {
  return policyOf(each.rule) ?? each.loss;
}

function removals(registered: readonly Registered[]): Step[] {
  return registered.filter(({ stage }) => stage !== 'detaching').map((each) => ({ do: 'remove', registered: each }));
}

function progressOf({ stage, fault }: Registered): Progress {
  return { stage, ...(fault === undefined ? {} : { fault }) };
}
