/** JSON as Go's encoder writes it, for hashes that a Go program computed over the same value. */

/** Options of {@link goJSON}. */
export interface GoJSONOptions {
  /** Write object keys in byte order, as Go does for maps. Default: in the order of the object, as for structs. */
  readonly sortKeys?: boolean;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * Compact JSON with HTML characters escaped, undefined fields left out and bytes as base64 text; no newline at the end.
 * Written by hand because a JavaScript object puts integer-like keys first whatever order is asked for.
 */
export function goJSON(value: unknown, options: GoJSONOptions = {}): string {
  if (value instanceof Uint8Array) return `"${Buffer.from(value).toString('base64')}"`;
  if (Array.isArray(value)) return `[${value.map((item) => goJSON(item, options)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    if (options.sortKeys) entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return `{${entries.map(([key, item]) => `${goJSON(key)}:${goJSON(item, options)}`).join(',')}}`;
  }
  const text = JSON.stringify(value) ?? 'null';
  return text.replace(/[<>&\u2028\u2029]/g, (character) => ESCAPES[character] ?? character);
}
