/** Keeps tokens out of texts for people. */

/** Header, payload and signature of a JSON web token, as every ServiceAccount token is. */
const jsonWebToken = /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g;

/** Replaces JSON web tokens in a text by `[redacted]`. */
export function redactTokens(text: string): string {
  return text.includes('eyJ') ? text.replace(jsonWebToken, '[redacted]') : text;
}
