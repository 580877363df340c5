/**
 * The words that kinds are written in: small zod schemas that both validate and say what the CRD needs. Each takes the
 * field's description, which reaches `kubectl explain`, the reference and generated types.
 */
import { z } from 'zod';
import { parseGoDuration } from './duration.ts';

/** One CEL rule of `x-kubernetes-validations`. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
}

export const text = (description: string) => z.string().describe(description);
export const flag = (description: string) => z.boolean().describe(description);
export const int = (description: string) => z.int().describe(description);
export const int32 = (description: string) => z.int32().meta({ description, format: 'int32' });
export const int64 = (description: string) => z.int().meta({ description, format: 'int64' });
/** Base64, as Kubernetes writes byte fields. */
export const bytes = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9+/\s]*={0,2}\s*$/, 'must be base64')
    .meta({ description, format: 'byte' });
/** RFC 3339. */
export const time = (description: string) => z.iso.datetime({ offset: true }).meta({ description });
export const texts = (description: string) => z.array(z.string()).describe(description);
export const textMap = (description: string) => z.record(z.string(), z.string()).describe(description);
/** Any object; the API server keeps all of it. */
export const freeform = (description: string) =>
  z.record(z.string(), z.unknown()).meta({ description, 'x-kubernetes-preserve-unknown-fields': true });
/** A number, or a text such as `25%`. */
export const intOrString = (description: string) =>
  z.union([z.int(), z.string()]).meta({ description, 'x-kubernetes-int-or-string': true });

const QUANTITY =
  /^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$/;

/** A Kubernetes quantity: `500m`, `128Mi`, `2`. */
export const quantity = (description: string) =>
  z
    .union([z.int(), z.string().regex(QUANTITY, 'must be a quantity such as 500m or 128Mi')])
    .meta({ description, 'x-kubernetes-int-or-string': true, pattern: QUANTITY.source });

/** The API server's share of the check below. CEL's own durations reach a little further than Go's. */
const DURATION_RULE: CelRule = {
  rule: "self == '0' || self.matches('^([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+$') && duration(self) <= duration('2562047h')",
  message: 'must be a Go duration such as 90s, 15m or 1h30m; there are no days or weeks',
};

function isPlainDuration(value: string): boolean {
  if (!/^(0|([0-9]+([.][0-9]+)?(ns|us|µs|ms|s|m|h))+)$/.test(value)) return false;
  try {
    return parseGoDuration(value) <= 2_562_047 * 3_600_000;
  } catch {
    return false;
  }
}

/** A Go duration of 1 to 32 characters, not negative, at most 2562047h; checked by the API server too. */
export const goDuration = (description: string) =>
  z
    .string()
    .min(1)
    .max(32)
    .refine(isPlainDuration, DURATION_RULE.message)
    .meta({ description, 'x-kubernetes-validations': [DURATION_RULE] });

/** Extra keys for lists and maps whose items belong together under server-side apply. */
export const atomicList = { 'x-kubernetes-list-type': 'atomic' } as const;
export const atomicMap = { 'x-kubernetes-map-type': 'atomic' } as const;
