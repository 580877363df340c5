/** Times as they stand in objects. */

/** RFC 3339 (UTC) in whole seconds, as API servers write them; `time` in milliseconds since 1970, or a Date. */
export function formatTime(time: number | Date): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
