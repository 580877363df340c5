/** The declared part of a value as it stands on the hub: what others have added, or the API server filled in, is not ours. */

/**
 * `found`, but of objects only the members that `declared` has. Lists, and members named in `whole`, are one value each:
 * they are taken as they are.
 */
export function declaredPart(declared: unknown, found: unknown, whole: readonly string[] = []): unknown {
  if (!isRecord(declared) || !isRecord(found)) return found;
  return Object.fromEntries(
    Object.keys(declared).flatMap((key) => {
      if (declared[key] === undefined || found[key] === undefined || found[key] === null) return [];
      return [[key, whole.includes(key) ? found[key] : declaredPart(declared[key], found[key], whole)]];
    }),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
