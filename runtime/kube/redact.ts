/** Keeps tokens and private keys out of texts for people. */

/** Header, payload and signature of a JSON web token, as every ServiceAccount token is. */
const jsonWebToken = /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g;

/** A whole PEM block, its line breaks real or escaped as in JSON. */
const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g;

/** Replaces JSON web tokens and private keys in a text by `[redacted]`. */
export function redactTokens(text: string): string {
  const withoutTokens = text.includes('eyJ') ? text.replace(jsonWebToken, '[redacted]') : text;
  return withoutTokens.includes('PRIVATE KEY') ? withoutTokens.replace(privateKey, '[redacted]') : withoutTokens;
}
