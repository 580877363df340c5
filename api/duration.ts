/** Go's duration texts (`1h30m`, `12h0m0s`, `500ms`), which the wire uses everywhere. */
import { MusterError } from './errors.ts';

/** Milliseconds per unit. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const DURATION = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/** Go keeps nanoseconds in an int64: about 292 years. */
const LIMIT_MS = Number(2n ** 63n / 1_000_000n);

/**
 * Milliseconds of a Go duration (fractional below 1 ms; negative with a leading `-`). `0` needs no unit.
 * @throws MusterError INVALID_ARGUMENT when the text is not a duration or does not fit Go's 292 years.
 */
export function parseGoDuration(text: string): number {
  if (/^[+-]?0$/.test(text)) return 0;
  const match = DURATION.exec(text);
  if (match === null) {
    throw new MusterError('INVALID_ARGUMENT', `${JSON.stringify(text.slice(0, 64))} is not a duration`, {
      hint: 'Write numbers with units, largest first: 12h, 1h30m, 90s. Units are h, m, s, ms, us and ns; there is no day.',
    });
  }
  let total = 0;
  for (const [, number, unit] of (match[2] ?? '').matchAll(PART)) total += Number(number) * (UNITS[unit ?? ''] ?? 0);
  if (total > LIMIT_MS) {
    throw new MusterError('INVALID_ARGUMENT', `${JSON.stringify(text.slice(0, 64))} is longer than 292 years`, {
      hint: 'Give a shorter duration.',
    });
  }
  return match[1] === '-' ? -total : total;
}

/** The text Go prints for a duration of `ms` milliseconds: `15m0s`, `1.5s`, `500ms`, `0s`. Rounded to nanoseconds. */
export function formatGoDuration(ms: number): string {
  const sign = ms < 0 ? '-' : '';
  const nanos = BigInt(Math.round(Math.abs(ms) * 1e6));
  if (nanos === 0n) return '0s';
  if (nanos < 1_000n) return `${sign}${nanos}ns`;
  if (nanos < 1_000_000n) return `${sign}${decimal(nanos, 3)}µs`;
  if (nanos < 1_000_000_000n) return `${sign}${decimal(nanos, 6)}ms`;
  const minutes = nanos / 60_000_000_000n;
  const seconds = `${decimal(nanos % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return sign + seconds;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** `value / 10^places` without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -places) : `${digits.slice(0, -places)}.${fraction}`;
}
