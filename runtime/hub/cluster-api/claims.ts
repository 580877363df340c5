/** Who wants which name. Two sources may be given the same one by their rules; the older has it. */
import type { Source } from './source.ts';

export class Claims {
  /** By wanted registration (`namespace/name`): sources with their creation. */
  #wanted = new Map<string, Map<string, string>>();
  #of = new Map<string, string>();

  /** Notes what a source wants; returns the sources that may have what it wanted before. */
  set({ key, createdAt }: Pick<Source, 'key' | 'createdAt'>, target: string | undefined): string[] {
    const before = this.#of.get(key);
    if (before === target) return [];
    const freed = before === undefined ? [] : this.#drop(key, before);
    if (target !== undefined) {
      this.#of.set(key, target);
      const sources = this.#wanted.get(target) ?? new Map<string, string>();
      this.#wanted.set(target, sources.set(key, createdAt));
    }
    return freed;
  }

  /** Sources that want it. */
  on(target: string): string[] {
    return [...(this.#wanted.get(target)?.keys() ?? [])];
  }

  /** The source that goes before this one, if any. */
  before({ key, createdAt }: Pick<Source, 'key' | 'createdAt'>, target: string): string | undefined {
    const older = [...(this.#wanted.get(target) ?? [])]
      .filter(([other, created]) => created < createdAt || (created === createdAt && other < key))
      .sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x < y ? -1 : 1));
    return older[0]?.[0];
  }

  #drop(key: string, target: string): string[] {
    this.#of.delete(key);
    const sources = this.#wanted.get(target);
    sources?.delete(key);
    if (sources?.size === 0) this.#wanted.delete(target);
    return [...(sources?.keys() ?? [])];
  }
}
