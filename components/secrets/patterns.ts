/** What credentials look like in texts. Pure, and careful: a false alarm would stop a team from committing at all. */

/** Header, payload and signature of a JSON web token, as every ServiceAccount token is; the header is looked into. */
const jsonWebToken = /\b(eyJ[\w-]{8,})\.eyJ[\w-]{8,}\.[\w-]{8,}/g;

/** Of any algorithm, on one line or many, its line breaks real or escaped. */
const privateKey = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----/;

/** `scheme://user:password@host`; group 1 is the password. */
const passwordInUrl = /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"']*:([^\s/@"']+)@/gi;

/** Tokens that their issuers mark: GitHub, GitLab, Slack, AWS (temporary and permanent secret keys have no mark). */
const markedToken = /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,}|glpat-[\w-]{20,}|xox[abprs]-[\w-]{20,})/;

/** A line of YAML, JSON or a properties file that gives a credential; group 1 is its value. */
const namedInText =
  /(?:^|[\n{,])\s*"?(?:token|bearer[-_]?token|password|passwd|client-key-data|client[-_]?secret|secret[-_]?key|api[-_]?key|private[-_]?key)"?\s*[:=]\s*"?([^\s",}]+)/gi;

/** Base64, long enough for a token or key. */
const base64Run = /[A-Za-z0-9+/]{48,}={0,2}/g;

/** Names of fields and environment variables whose value is a credential. */
const sensitiveName =
  /(?:^|[_.-])(?:password|passwd|token|secret|secret[_-]?key|api[_-]?key|private[_-]?key|access[_-]?key|credentials?|client[_-]?key[_-]?data)$/i;

/** The same in camel case. */
const sensitiveField =
  /^(?:password|passwd|token|(?:bearer|access|auth|refresh)Token|(?:api|secret|private|accessKey)Key|clientSecret|clientKeyData)$/;

/** The text with what refers to a credential instead of being one: `$(NAME)`, `${NAME}`, `{{ … }}`, `<…>`, `***`. */
function isReference(value: string): boolean {
  return value === '' || /^(?:\$\(.*\)|\$\{.*\}|\{\{.*\}\}?|<.*>|\*+|\$[A-Za-z_]\w*)$/.test(value);
}

/** Whether a variable or field of this name holds a credential. */
export function isSensitiveName(name: string): boolean {
  return sensitiveName.test(name) || sensitiveField.test(name);
}

/** Whether `value`, of a variable or field with a sensitive name, is one: no reference, switch, number or file. */
export function isSensitiveValue(value: string): boolean {
  const text = value.trim();
  return !isReference(text) && !/^(?:true|false|null|none|\d{1,5})$/i.test(text) && !/^[~.]{0,2}\//.test(text);
}

/**
 * What kind of credential a text holds, as words for people; undefined when it holds none.
 * @param readNames whether to look at lines such as `token: …` too: in configuration, not in prose and schemas
 */
export function credentialIn(text: string, readNames: boolean): string | undefined {
  if (privateKey.test(text)) return 'a private key';
  if ([...text.matchAll(jsonWebToken)].some(([, header = '']) => isTokenHeader(header))) return 'a token (JWT)';
  if (markedToken.test(text)) return 'an access token';
  if ([...text.matchAll(passwordInUrl)].some(([, password = '']) => !isReference(decode(password))))
    return 'an address with a password';
  if (readNames && [...text.matchAll(namedInText)].some(([, value = '']) => isLongSecret(value)))
    return 'a token, key or password by name';
  return encodedCredential(text);
}

/** What a kubeconfig, key or token in base64 is, as in data of Secrets and `client-key-data`. */
function encodedCredential(text: string): string | undefined {
  for (const [run] of text.matchAll(base64Run)) {
    const decoded = Buffer.from(run, 'base64').toString('latin1');
    if (privateKey.test(decoded)) return 'a private key in base64';
    if (/\bclient-key-data\b|\bauths"?\s*:/.test(decoded)) return 'a kubeconfig or pull secret in base64';
    if ([...decoded.matchAll(jsonWebToken)].some(([, header = '']) => isTokenHeader(header)))
      return 'a token (JWT) in base64';
  }
  return undefined;
}

/** Shorter ones are examples and switches; a real credential by name alone has some length. */
function isLongSecret(value: string): boolean {
  return value.length >= 8 && isSensitiveValue(value);
}

function isTokenHeader(header: string): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(header, 'base64url').toString());
    return typeof value === 'object' && value !== null && 'alg' in value;
  } catch {
    return false;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
