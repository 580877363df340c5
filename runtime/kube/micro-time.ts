/** A time as Leases and Events want it: RFC 3339 with exactly six digits of a second (Kubernetes: MicroTime). */
export function microTime(date: Date = new Date()): string {
  return date.toISOString().replace(/Z$/, '000Z');
}
