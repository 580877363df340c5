/** Objects without what is not given. */

/** `T` whose members are there or not, but never undefined. */
export type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** A copy without the members that are undefined: what is not given stays a default, or somebody else's. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}
