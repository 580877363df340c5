/** The objects of a cache and the indexes over them. Knows nothing of where they come from. */
import type { KubeObject } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import { MusterError } from '../../api/errors.ts';

/** Functions from an object to the values it is found under. */
export type Indexers<T> = Readonly<Record<string, (object: T) => string[]>>;

interface Index<T> {
  readonly values: (object: T) => string[];
  readonly objects: Map<string, Map<string, T>>;
}

/** Objects by namespace and key, and by the values of each index. Every operation costs what it touches, not the total. */
export class Store<T extends KubeObject> {
  #namespaces = new Map<string, Map<string, T>>();
  #indexes = new Map<string, Index<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): T | undefined {
    return this.#namespaces.get(namespaceOf(key))?.get(key);
  }

  list(namespace?: string): T[] {
    if (namespace !== undefined) return [...(this.#namespaces.get(namespace)?.values() ?? [])];
    return [...this.#namespaces.values()].flatMap((objects) => [...objects.values()]);
  }

  keys(): string[] {
    return [...this.#namespaces.values()].flatMap((objects) => [...objects.keys()]);
  }

  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new MusterError('INTERNAL', 'there is no such index', { where: name });
    return [...(index.objects.get(value)?.values() ?? [])];
  }

  /** Indexes of a name that exists are ignored. */
  addIndexers(indexers: Indexers<T>): void {
    for (const [name, values] of Object.entries(indexers)) {
      if (this.#indexes.has(name)) continue;
      const index: Index<T> = { values, objects: new Map() };
      this.#indexes.set(name, index);
      for (const object of this.list()) file(index, keyOf(object), object);
    }
  }

  /** Adds or replaces; returns what was there before. */
  set(object: T): T | undefined {
    const key = keyOf(object);
    const previous = this.delete(key);
    const objects = insideOf(this.#namespaces, namespaceOf(key));
    objects.set(key, object);
    this.#size += 1;
    for (const index of this.#indexes.values()) file(index, key, object);
    return previous;
  }

  /** Returns what was there. */
  delete(key: string): T | undefined {
    const namespace = namespaceOf(key);
    const objects = this.#namespaces.get(namespace);
    const object = objects?.get(key);
    if (objects === undefined || object === undefined) return undefined;
    objects.delete(key);
    if (objects.size === 0) this.#namespaces.delete(namespace);
    this.#size -= 1;
    for (const index of this.#indexes.values()) unfile(index, key, object);
    return object;
  }
}

function namespaceOf(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}

function insideOf<T>(outer: Map<string, Map<string, T>>, name: string): Map<string, T> {
  const known = outer.get(name);
  if (known !== undefined) return known;
  const made = new Map<string, T>();
  outer.set(name, made);
  return made;
}

function file<T>(index: Index<T>, key: string, object: T): void {
  for (const value of index.values(object)) insideOf(index.objects, value).set(key, object);
}

/** Objects are frozen, so an indexer gives for the old object what it gave when it was filed. */
function unfile<T>(index: Index<T>, key: string, object: T): void {
  for (const value of index.values(object)) {
    const objects = index.objects.get(value);
    objects?.delete(key);
    if (objects?.size === 0) index.objects.delete(value);
  }
}
