/**
 * Reads untrusted YAML field by field. Every complaint names the path and what was expected, never the value: the
 * value may be a key or a token.
 */
import { readFileSync } from 'node:fs';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { MusterError } from '../../api/errors.ts';

/** Larger than any kubeconfig that a person keeps; smaller than what could make the parser slow. */
const largestText = 1024 * 1024;

/** One mapping of the document and where it stands in it. */
export interface Fields {
  readonly where: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export function invalid(where: string, reason: string): MusterError {
  return new MusterError('INVALID_KUBECONFIG', reason, {
    where: `kubeconfig${where === '' ? '' : ` ${where}`}`,
    hint: 'Give a kubeconfig as `kubectl config view --raw --minify` prints it.',
  });
}

/** The document's top mapping. Parser messages are cut to code and line: their long form quotes the text. */
export function readDocument(text: string | Buffer): Fields {
  const content = (typeof text === 'string' ? text : text.toString('utf8')).replace(/^\uFEFF/, '');
  if (content.length > largestText) throw invalid('', 'is larger than 1 MiB');
  if (content.trim() === '') throw invalid('', 'is empty');
  const value = fromJson(content) ?? fromYaml(content);
  if (!isMapping(value)) throw invalid('', 'is not a mapping');
  return { where: '', values: value };
}

/** JSON is YAML too, and read without running the YAML parser, which costs an idle agent 5 MB (measured). */
function fromJson(content: string): unknown {
  if (!content.startsWith('{')) return undefined;
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/** YAML 1.1, as Go's parsers of Kubernetes read it: a bare `n`, `on` or `yes` is a boolean there. */
function fromYaml(content: string): unknown {
  try {
    const lineCounter = new LineCounter();
    const document = parseDocument(content, { prettyErrors: false, lineCounter, logLevel: 'error', version: '1.1' });
    const [error] = document.errors;
    if (error !== undefined) {
      throw invalid(`line ${lineCounter.linePos(error.pos[0]).line}`, `is not valid YAML (${error.code})`);
    }
    return document.toJS({ maxAliasCount: 50 });
  } catch (error) {
    if (error instanceof MusterError) throw error;
    throw invalid('', 'is not valid YAML');
  }
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pathOf(fields: Fields, key: string): string {
  return fields.where === '' ? key : `${fields.where}.${key}`;
}

function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields.values, key) ? (fields.values[key] ?? undefined) : undefined;
}

/** A text, or `undefined` when absent or empty. */
export function text(fields: Fields, key: string): string | undefined {
  const value = own(fields, key);
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw invalid(pathOf(fields, key), `must be a text, not ${kindOf(value)}`);
  return value;
}

export function flag(fields: Fields, key: string): boolean {
  const value = own(fields, key);
  if (value === undefined) return false;
  if (typeof value !== 'boolean') throw invalid(pathOf(fields, key), `must be true or false, not ${kindOf(value)}`);
  return value;
}

export function mapping(fields: Fields, key: string): Fields | undefined {
  const value = own(fields, key);
  if (value === undefined) return undefined;
  if (!isMapping(value)) throw invalid(pathOf(fields, key), `must be a mapping, not ${kindOf(value)}`);
  return { where: pathOf(fields, key), values: value };
}

/** The mappings of a list; none when it is absent. */
export function mappings(fields: Fields, key: string): Fields[] {
  return items(fields, key).map((value, index) => {
    const where = `${pathOf(fields, key)}[${index}]`;
    if (!isMapping(value)) throw invalid(where, `must be a mapping, not ${kindOf(value)}`);
    return { where, values: value };
  });
}

/** The texts of a list; none when it is absent. */
export function texts(fields: Fields, key: string): string[] {
  return items(fields, key).map((value, index) => {
    if (typeof value !== 'string') throw invalid(`${pathOf(fields, key)}[${index}]`, 'must be a text');
    return value;
  });
}

function items(fields: Fields, key: string): unknown[] {
  const value = own(fields, key);
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalid(pathOf(fields, key), `must be a list, not ${kindOf(value)}`);
  return value;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`;
}

/** The entry of `clusters`, `users` or `contexts` with this name: its inner mapping. */
export function named(document: Fields, list: string, inner: string, name: string): Fields | undefined {
  const entry = mappings(document, list).find((fields) => text(fields, 'name') === name);
  if (entry === undefined) return undefined;
  const found = mapping(entry, inner);
  return { where: `${list}[${name}].${inner}`, values: found?.values ?? {} };
}

/** An absolute http or https URL without user, query or fragment; the trailing slash is dropped. */
export function url(fields: Fields, key: string): string | undefined {
  const value = text(fields, key);
  if (value === undefined) return undefined;
  const where = pathOf(fields, key);
  const parsed = URL.canParse(value) ? new URL(value) : undefined;
  if (parsed === undefined || !/^https?:$|^socks5h?:$/.test(parsed.protocol) || parsed.hostname === '') {
    throw invalid(where, 'must be a URL such as https://host:6443');
  }
  return parsed.href.replace(/\/+$/, '');
}

/** PEM from `KEY-data` (base64) or else the file `KEY`; `what` is checked. */
export function pem(
  fields: Fields,
  key: string,
  what: 'certificate' | 'private key',
  baseDir: string,
): string | undefined {
  const data = text(fields, `${key}-data`);
  const path = text(fields, key);
  if (data === undefined && path === undefined) return undefined;
  const where = pathOf(fields, data === undefined ? key : `${key}-data`);
  const content = data === undefined ? file(where, path ?? '', baseDir) : base64(where, data);
  if (!isPem(content, what)) throw invalid(where, `holds no PEM ${what}`);
  return content;
}

function base64(where: string, data: string): string {
  const compact = data.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.length % 4 !== 0) throw invalid(where, 'is not valid base64');
  return Buffer.from(compact, 'base64').toString('utf8');
}

function isPem(content: string, what: 'certificate' | 'private key'): boolean {
  try {
    if (what === 'private key') return createPrivateKey(content) !== undefined;
    const blocks = content.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
    return blocks.length > 0 && blocks.every((block) => new X509Certificate(block).subject !== undefined);
  } catch {
    return false;
  }
}

/** The content of a file that the kubeconfig names. */
export function file(where: string, path: string, baseDir: string): string {
  try {
    return readFileSync(absolute(path, baseDir), 'utf8');
  } catch (error) {
    throw invalid(where, `names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}

export function absolute(path: string, baseDir: string): string {
  return isAbsolute(path) ? path : join(baseDir, path);
}
