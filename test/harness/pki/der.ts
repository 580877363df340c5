/** The few ASN.1 DER encodings (ITU-T X.690) that a certificate is made of. */

function encode(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const size = Buffer.from(body.length.toString(16).padStart(body.length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | size.length]), size, body]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => encode(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => encode(0x31, ...parts);
export const octets = (value: Uint8Array): Buffer => encode(0x04, value);
export const boolean = (value: boolean): Buffer => encode(0x01, Buffer.from([value ? 0xff : 0]));
export const utf8 = (value: string): Buffer => encode(0x0c, Buffer.from(value, 'utf8'));
/** An unsigned integer given as bytes: a leading zero keeps it positive. */
export const integer = (value: Uint8Array): Buffer =>
  encode(0x02, ((value[0] ?? 0) & 0x80) === 0 ? value : Buffer.concat([Buffer.from([0]), value]));
export const bits = (value: Uint8Array, unused = 0): Buffer => encode(0x03, Buffer.from([unused]), value);
/** Explicitly tagged: `[n] { … }`. */
export const tagged = (n: number, ...parts: readonly Uint8Array[]): Buffer => encode(0xa0 | n, ...parts);
/** Implicitly tagged primitive: `[n] bytes`. */
export const implicit = (n: number, value: Uint8Array): Buffer => encode(0x80 | n, value);

/** UTCTime `YYMMDDHHMMSSZ`; right until 2049, which is longer than any test. */
export const time = (value: Date): Buffer =>
  encode(0x17, Buffer.from(`${value.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`, 'ascii'));

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [40 * first + second];
  for (const arc of rest) {
    const base128 = [arc & 0x7f];
    for (let high = arc >>> 7; high > 0; high >>>= 7) base128.unshift(0x80 | (high & 0x7f));
    bytes.push(...base128);
  }
  return encode(0x06, Buffer.from(bytes));
}
