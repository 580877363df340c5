/** Counts per rule, kept as single sources change: a change costs the same with ten sources as with ten thousand. */
import type { Progress } from './decide.ts';
import { parseSourceKey } from './source.ts';

/** What is known of one source that a rule selects. */
export interface SourceRecord {
  /** The rule that registers it. */
  readonly rule: string;
  /** Other rules that select it, too. */
  readonly others: readonly string[];
  readonly progress: Progress;
}

export interface RuleTally {
  /** Sources by stage. */
  readonly stages: ReadonlyMap<Progress['stage'], ReadonlySet<string>>;
  /** Sources that failed, by reason. */
  readonly faults: ReadonlyMap<string, ReadonlySet<string>>;
  /** Sources that this rule registers and others select, too, by the other rule. */
  readonly over: ReadonlyMap<string, ReadonlySet<string>>;
  /** Sources that it selects and another rule registers, by that one. */
  readonly under: ReadonlyMap<string, ReadonlySet<string>>;
}

interface MutableTally {
  readonly stages: Map<Progress['stage'], Set<string>>;
  readonly faults: Map<string, Set<string>>;
  readonly over: Map<string, Set<string>>;
  readonly under: Map<string, Set<string>>;
}

const empty: RuleTally = { stages: new Map(), faults: new Map(), over: new Map(), under: new Map() };

export class Tally {
  #records = new Map<string, SourceRecord>();
  #rules = new Map<string, MutableTally>();
  #namespaces = new Map<string, Set<string>>();
  #reasons = new Map<string, Set<string>>();

  get(source: string): SourceRecord | undefined {
    return this.#records.get(source);
  }

  /** Sources of a namespace that a rule selects. */
  inNamespace(namespace: string): string[] {
    return [...(this.#namespaces.get(namespace) ?? [])];
  }

  /** Sources that wait, or failed, for this reason. */
  withReason(reason: string): string[] {
    return [...(this.#reasons.get(reason) ?? [])];
  }

  of(rule: string): RuleTally {
    return this.#rules.get(rule) ?? empty;
  }

  /** Sources that the rule registers, or selects without registering them. */
  sourcesOf(rule: string): string[] {
    const { stages, under } = this.of(rule);
    return [...stages.values(), ...under.values()].flatMap((sources) => [...sources]);
  }

  /** Replaces what is known of a source; returns the rules whose numbers or reasons changed. */
  set(source: string, record: SourceRecord | undefined): string[] {
    const before = this.#records.get(source);
    if (same(before, record)) return [];
    if (before !== undefined) this.#apply(source, before, false);
    if (record === undefined) this.#records.delete(source);
    else {
      this.#records.set(source, record);
      this.#apply(source, record, true);
    }
    return [...new Set([before, record].flatMap((each) => (each === undefined ? [] : [each.rule, ...each.others])))];
  }

  #apply(source: string, { rule, others, progress }: SourceRecord, there: boolean): void {
    const put = <K>(map: Map<K, Set<string>>, key: K): void => {
      const set = map.get(key) ?? new Set();
      if (there) set.add(source);
      else set.delete(source);
      if (set.size === 0) map.delete(key);
      else map.set(key, set);
    };
    put(this.#namespaces, parseSourceKey(source)?.namespace ?? '');
    if (progress.fault !== undefined) put(this.#reasons, progress.fault.reason);
    const own = this.#tally(rule);
    put(own.stages, progress.stage);
    if (progress.stage === 'failed') put(own.faults, progress.fault?.reason ?? '');
    for (const other of others) {
      put(own.over, other);
      put(this.#tally(other).under, rule);
    }
    for (const name of [rule, ...others]) {
      const { stages, under } = this.#tally(name);
      if (stages.size + under.size === 0) this.#rules.delete(name);
    }
  }

  #tally(rule: string): MutableTally {
    const known = this.#rules.get(rule);
    if (known !== undefined) return known;
    const made = { stages: new Map(), faults: new Map(), over: new Map(), under: new Map() };
    this.#rules.set(rule, made);
    return made;
  }
}

function same(a: SourceRecord | undefined, b: SourceRecord | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.rule === b.rule &&
    a.others.join() === b.others.join() &&
    a.progress.stage === b.progress.stage &&
    a.progress.fault?.reason === b.progress.fault?.reason &&
    a.progress.fault?.message === b.progress.fault?.message
  );
}
