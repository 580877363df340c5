/** One source at a time: reads the whole state, decides, does it. Whatever concerns it, by whatever event, leads here. */
import { reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import type { RegistrationRule } from '../../../api/muster/kinds.ts';
import { isNotFound } from '../../kube/api-error.ts';
import type { Controller, ReconcileContext, Result } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { needs } from '../fleet/caches.ts';
import type { Decision, Step } from './decide.ts';
import { decide } from './decide.ts';
import { NameTaken } from './registrar.ts';
import type { LossPolicy } from './registration.ts';
import { lossPolicy } from './registration.ts';
import type { RuleContext } from './rule-context.ts';
import { kindOf, matches } from './selection.ts';
import type { Source } from './source.ts';
import type { Teller } from './teller.ts';
import { createTeller } from './teller.ts';
import { namespaceIn, takenBy, wantedOf } from './want.ts';
import type { WarmUp } from './warm-up.ts';

export function createSourceController(context: RuleContext, warmUp: WarmUp): Controller {
  const tell = createTeller(context.events);

  const reconcile = async (key: string, { signal }: ReconcileContext): Promise<Result | void> => {
    try {
      return await reconcileSource(context, key, tell, signal);
    } finally {
      warmUp.seen(key);
    }
  };
  const controller = createController({
    name: 'rule-source',
    // few: what is begun goes first, so that of hundreds that come at once half are registered after half of the time
    concurrency: 4,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    reconcile,
  });
  needs(controller, context.rules, ...context.optional);
  followSources(context, controller, warmUp);
  followRules(context, controller);
  followNamespaces(context, controller);
  return controller;
}

/** A source, or what is registered for it, changed. */
function followSources(context: RuleContext, controller: Controller, warmUp: WarmUp): void {
  const { sources, registrar, claims, rules } = context;
  sources.watch((source, { gone, initial }) => {
    // most Secrets are no sources, and there are many
    const concerns =
      source.kind !== 'Secret' ||
      context.tally.get(source.key) !== undefined ||
      sources.isHeld(source) ||
      rules.list().some((rule) => matches(rule, source, namespaceIn(context, source.namespace)));
    if (!concerns) return;
    if (initial && !gone) warmUp.expect(source.key);
    controller.enqueue(source.key);
  });
  registrar.watch(({ sources: keys, key, gone, initial }) => {
    for (const source of keys) {
      if (initial) warmUp.expect(source);
      controller.enqueue(source);
    }
    // its name is free for who waits for it
    if (gone) for (const source of claims.on(key)) controller.enqueue(source);
  });
}

/** A rule changed: the sources that it selects now, and those that it did. */
function followRules(context: RuleContext, controller: Controller): void {
  const { rules, sources, tally } = context;
  const selected = (rule: RegistrationRule): string[] =>
    sources
      .list(kindOf(rule))
      .filter((source) => matches(rule, source, namespaceIn(context, source.namespace)))
      .map(({ key }) => key);
  rules.subscribe(({ type, object, previous }) => {
    if (previous?.metadata.generation === object.metadata.generation && type === 'updated') return;
    const keys = new Set([...tally.sourcesOf(object.metadata.name ?? ''), ...selected(object)]);
    for (const key of keys) controller.enqueue(key);
  });
}

/** Labels of a namespace changed: they open it, or make rules select what is in it. */
function followNamespaces(context: RuleContext, controller: Controller): void {
  const { namespaces, sources, tally, rules } = context;
  namespaces.subscribe(({ type, object, previous }) => {
    if (type === 'updated' && JSON.stringify(previous?.metadata.labels) === JSON.stringify(object.metadata.labels))
      return;
    const { name = '' } = object.metadata;
    const now = namespaceIn(context, name);
    const inside = (['Cluster', 'ClusterProfile', 'Secret'] as const)
      .flatMap((kind) => sources.list(kind, name))
      .filter((source) => source.kind !== 'Secret' || rules.list().some((rule) => matches(rule, source, now)));
    // also those that are known from there, and those that wait for a namespace to be opened
    const waiting = [reasons.namespaceNotOpen, reasons.workspaceNotOpen].flatMap((reason) => tally.withReason(reason));
    const known = [...tally.inNamespace(name), ...waiting];
    for (const key of new Set([...inside.map(({ key }) => key), ...known])) controller.enqueue(key);
  });
}

async function reconcileSource(
  context: RuleContext,
  key: string,
  tell: Teller,
  signal: AbortSignal,
): Promise<Result | void> {
  const { sources, registrar, tally } = context;
  if (context.rules.list().length > 0) await context.namespaces.whenSynced(signal);
  await registrar.whenSynced(signal);
  const registered = registrar.of(key);
  const found = await lookUp(context, key, registered.length > 0, signal);
  if (found === 'unknown') return;
  const source = found === 'gone' ? undefined : found;
  const wanted = source && wantedOf(context, source);
  claimName(context, key, source, wanted?.target);
  const decision = decide({
    source,
    held: source !== undefined && sources.isHeld(source),
    registered,
    want: wanted?.want,
    policyOf: (rule) => policyOf(context, rule),
    nowMs: Date.now(),
  });
  const progress = await take(context, source, decision, tell, signal);
  const selected = progress !== undefined && wanted !== undefined && source !== undefined;
  if (selected) tell.progress(source, progress, registered);
  else tell.forget(key);
  const record = selected ? { rule: wanted.want.rule, others: wanted.others, progress } : undefined;
  for (const rule of tally.set(key, record)) context.ruleChanged(rule);
  return decision.againMs === undefined ? undefined : { requeueAfterMs: decision.againMs };
}

/** `unknown`: nothing may be done about it now. */
async function lookUp(
  { sources, tally, rules }: RuleContext,
  key: string,
  registered: boolean,
  signal: AbortSignal,
): Promise<Source | 'gone' | 'unknown'> {
  // only what we have to do with is looked for beyond the caches
  const known = registered || tally.get(key) !== undefined;
  const found = known ? await sources.find(key, signal) : (sources.get(key) ?? 'gone');
  if (typeof found === 'string' || found.deletedAtMs !== undefined) return found;
  // without the definition of rules nobody knows which there were
  return rules.installed ? found : 'unknown';
}

/** Notes which name the source asks for, and wakes those that may have the one that it asked for before. */
function claimName(context: RuleContext, key: string, source: Source | undefined, target: string | undefined): void {
  const asks =
    source !== undefined && source.deletedAtMs === undefined && source.notReady === undefined && !source.paused;
  const freed = context.claims.set(source ?? { key, createdAt: '' }, asks ? target : undefined);
  for (const other of freed) context.enqueueSource(other);
}

function policyOf({ rules }: RuleContext, name: string): LossPolicy | undefined {
  const rule = rules.get(name);
  return rule === undefined ? undefined : lossPolicy(rule.spec.onSourceDeleted);
}

/** Takes the steps in their order. Returns how far it is; a name that was taken meanwhile is found only here. */
async function take(
  context: RuleContext,
  source: Source | undefined,
  { steps, progress }: Decision,
  tell: Teller,
  signal: AbortSignal,
): Promise<Decision['progress']> {
  try {
    for (const step of steps) await takeStep(context, source, step, tell, signal);
    return progress;
  } catch (error) {
    if (!(error instanceof NameTaken)) throw error;
    // the next look finds who has it, and lets the source go
    if (source !== undefined) context.enqueueSource(source.key);
    return { stage: 'failed', fault: takenBy(error.key, error.holder) };
  }
}

async function takeStep(
  { sources, registrar }: RuleContext,
  source: Source | undefined,
  step: Step,
  tell: Teller,
  signal: AbortSignal,
): Promise<void> {
  switch (step.do) {
    case 'hold':
      if (source !== undefined) await sources.hold(source, { signal });
      return;
    case 'register':
      return await registrar.ensure(step.registration, signal);
    case 'pause':
      return await registrar.pause(step.registered, step.paused, signal);
    case 'lose':
      return await registrar.lose(step.registered, step.atMs, signal);
    case 'remove':
      return await registrar.remove(step.registered, signal);
    case 'keep':
      return await registrar.keep(step.registered, signal);
    case 'release':
      if (source === undefined) return;
      if (step.overdue) tell.overdue(source, registrar.of(source.key));
      return await letGo(sources, source, signal);
  }
}

async function letGo(sources: RuleContext['sources'], source: Source, signal: AbortSignal): Promise<void> {
  try {
    await sources.release(source, { signal });
  } catch (error) {
    // it went without waiting
    if (!isNotFound(error)) throw error;
  }
}
