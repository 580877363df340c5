/**
 * Names and hashes of the Fleet wire protocol. Two programs that never talk to each other must arrive at the same
 * names, so each rule here is exact to the byte and stands with published examples as tests. No schema code: agents
 * import this file.
 */
import { createHash, randomInt } from 'node:crypto';
import { posix } from 'node:path';
import { goJSON } from '../go-json.ts';

/** A named object with its UID: what names that must not survive a re-creation are made of. */
export interface NamedUid {
  readonly name: string;
  readonly uid: string;
}

const hex = (algorithm: string, data: string | Uint8Array): string => createHash(algorithm).update(data).digest('hex');

/** First `count` bytes of the UTF-8 form of `text`. */
const bytes = (text: string, count: number): Buffer => Buffer.from(text).subarray(0, count);

/** First 12 hex digits of SHA-256 over the first 100 bytes of `text` (Fleet: names.KeyHash). */
export function keyHash(text: string): string {
  return hex('sha256', bytes(text, 100)).slice(0, 12);
}

/**
 * Joins parts by `-` into a name of at most 63 bytes (Fleet: names.SafeConcatName). Longer names are cut and end in
 * hex digits of the SHA-256 of the full name: five after 57 bytes, or six after 56 when the cut would fall on a
 * character that is neither a lower-case letter nor a digit.
 */
export function safeConcat(...parts: string[]): string {
  const full = parts.join('-');
  const raw = Buffer.from(full);
  if (raw.length < 64) return full;
  const digest = hex('sha256', full);
  const last = String.fromCharCode(raw[56] ?? 0);
  return /[a-z0-9]/.test(last)
    ? `${raw.subarray(0, 57).toString()}-${digest.slice(0, 5)}`
    : `${raw.subarray(0, 56).toString()}-${digest.slice(0, 6)}`;
}

/** Where the hub answers registrations: each `-system` becomes `-clusters-system`, which is appended if there is none. */
export function registrationNamespace(systemNamespace: string): string {
  return systemNamespace.includes('-system')
    ? systemNamespace.replaceAll('-system', '-clusters-system')
    : `${systemNamespace}-clusters-system`;
}

/** The namespace that holds what one cluster is to run (Fleet: cluster namespace). */
export function clusterNamespace(namespace: string, name: string): string {
  return safeConcat('cluster', namespace, name, keyHash(`${namespace}::${name}`));
}

/** Name of the Cluster that the hub makes for a request whose clientID no Cluster carries. */
export function autoClusterName(clientID: string): string {
  return safeConcat('cluster', keyHash(clientID));
}

/** Name of the Secret that answers a request: 63 characters, only computable by who knows both values. */
export function registrationSecretName(clientID: string, clientRandom: string): string {
  return `c-${hex('sha256', clientID + clientRandom)}`.slice(0, 63);
}

/** ServiceAccount whose token is the bootstrap credential of a ClusterRegistrationToken; also made of its UID. */
export function tokenServiceAccountName(token: NamedUid): string {
  return safeConcat(token.name, token.uid);
}

/** Role by which a token's ServiceAccount may create requests. */
export function tokenRoleName(serviceAccount: string): string {
  return safeConcat(serviceAccount, 'role');
}

export function tokenRoleBindingName(serviceAccount: string): string {
  return safeConcat(serviceAccount, 'to', 'role');
}

/** Role and RoleBinding by which an import token's ServiceAccount may read the one Secret that answers it. */
export function importCredentialsName(serviceAccount: string): string {
  return safeConcat(serviceAccount, 'creds');
}

/** The short-lived token that the hub makes for a manager-initiated registration. */
export function importTokenName(cluster: string): string {
  return safeConcat(`import-token-${cluster}`);
}

/** ServiceAccount, in the cluster namespace, that a registered agent acts as. */
export function requestServiceAccountName(request: NamedUid): string {
  return safeConcat(request.name, request.uid);
}

/** ClusterRoleBinding to the role that reads Contents. */
export function contentBindingName(requestName: string): string {
  return safeConcat(requestName, 'content');
}

/** Role and RoleBinding by which a registration token may read the Secret that answers this request. */
export function credentialReaderName(requestName: string): string {
  return safeConcat(requestName, 'creds');
}

/** Secret of type `kubernetes.io/service-account-token`. Not cut: ServiceAccount names here stay under 64 bytes. */
export function serviceAccountTokenName(serviceAccount: string): string {
  return `${serviceAccount}-token`;
}

/** Bundle by which the hub keeps the agent of `cluster` up to date. */
export function agentBundleName(cluster: string): string {
  return safeConcat('fleet-agent', cluster);
}

/** ClusterRole (and binding) of the agent on its own cluster. */
export function agentClusterRoleName(agentNamespace: string): string {
  return safeConcat(agentNamespace, 'fleet-agent', 'role');
}

/** One file of a Content's manifest. `encoding`: none, `base64` or `base64+gz`. */
export interface ManifestResource {
  readonly name?: string | undefined;
  readonly content?: string | undefined;
  readonly encoding?: string | undefined;
}

/** The exact bytes that a Content is named and check-summed by: Go JSON, empty fields left out, newline at the end. */
export function manifestJSON(resources: readonly ManifestResource[]): string {
  const files = resources.map(({ name, content, encoding }) => ({
    name: name || undefined,
    content: content || undefined,
    encoding: encoding || undefined,
  }));
  return `${goJSON({ resources: files.length === 0 ? undefined : files })}\n`;
}

/** Name of the Content that holds `json`, the bytes of {@link manifestJSON} before compression. */
export function contentName(json: string | Uint8Array): string {
  return `s-${hex('sha256', json)}`.slice(0, 63);
}

/**
 * `contentName:hash` where the hash covers the options that require a new deployment, so not `diff` and
 * `correctDrift`. Agents use the part before `:` and equality only; keys are hashed in sorted order, so that the result
 * does not depend on how an object was read.
 */
export function deploymentId(content: string, options: Readonly<Record<string, unknown>>): string {
  const relevant = { ...options, diff: undefined, correctDrift: undefined };
  return `${content}:${hex('sha256', `${goJSON(relevant, { sortKeys: true })}\n`)}`;
}

const RELEASE_NAME_LIMIT = 53;
const VALID_RELEASE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** A helm release name (at most 53 bytes) from any text; texts that had to be changed carry a hash (Fleet: names.HelmReleaseName). */
export function helmReleaseName(text: string): string {
  const flat = text.replaceAll('/', '-');
  const marked = /[^a-z0-9-]/.test(flat) ? `${flat}-${hex('md5', flat).slice(0, 8)}` : flat;
  const clean = marked
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/-+/g, '-')
    .replace(/^-|-$/g, '');
  const name = limitReleaseName(clean);
  return VALID_RELEASE_NAME.test(name) ? name : hex('md5', text).slice(0, 24);
}

function limitReleaseName(name: string): string {
  if (name.length <= RELEASE_NAME_LIMIT) return name;
  const base = name.slice(0, RELEASE_NAME_LIMIT - 6);
  return `${base}${base.endsWith('-') ? '' : '-'}${hex('md5', name).slice(0, 5)}`;
}

/** Name of the Bundle made of `path` (a folder, or a folder and a file's stem) of a GitRepo. */
export function bundleNameForPath(repo: string, path: string): string {
  return helmReleaseName(posix.join(repo, path));
}

/**
 * Hex SHA-224 by which Cluster.status remembers a field (`agentEnvVarsHash`, …). Bytes count as base64 text, absent
 * values as null. Only the hub reads these, so keys are sorted for stability.
 */
export function statusHash(value: unknown): string {
  return hex('sha224', goJSON(value ?? null, { sortKeys: true }));
}

/** Hash by which a BundleDeployment names the version of its values Secret (Fleet: helmvalues.HashValuesSecret). */
export function valuesHash(values: string | Uint8Array, stagedValues: string | Uint8Array): string {
  return createHash('sha256').update(values).update(stagedValues).digest('hex');
}

/** Whose set of objects: `id` alone, or with the object that owns the set. */
export interface ObjectSetOwner {
  readonly id: string;
  /** `group/version, Kind=Kind`. */
  readonly gvk?: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** Value of the label `objectset.rio.cattle.io/hash`. */
export function objectSetHash(owner: ObjectSetOwner): string {
  return hex('sha1', `${owner.id}${owner.gvk ?? ''}${owner.name ?? ''}${owner.namespace ?? ''}`);
}

/** No vowels, no look-alikes. */
const TOKEN_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** `length` random characters, 4.75 bits each; for clientRandom and clientIDs (54 characters are 256 bits). */
export function randomToken(length = 54): string {
  return Array.from({ length }, () => TOKEN_ALPHABET.charAt(randomInt(TOKEN_ALPHABET.length))).join('');
}
