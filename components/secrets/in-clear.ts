/** Finds credentials that stand in clear in manifests, so that none is committed to Git. */
import { MusterError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import { credentialIn, isSensitiveName, isSensitiveValue } from './patterns.ts';

/** One place with a credential; never the credential itself. */
export interface SecretInClear {
  /** `Secret edge/fleet-agent-bootstrap`. */
  readonly object: string;
  /** `data.token`, `spec.template.spec.containers[0].env[2].value`. */
  readonly path: string;
  /** What it looks like, with its article: `a value of a Secret`, `a private key`. */
  readonly what: string;
}

/** Objects, and places in each, that the error names; the rest is counted. */
const named = 5;

/** Kinds whose texts are prose, schemas and expressions: fields called `token` there are no tokens. */
const describing = new Set([
  'CustomResourceDefinition',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ClusterRole',
  'Role',
]);

/**
 * Every place of the objects that holds a credential: values of Secrets; private keys, tokens, kubeconfigs and addresses
 * with a password anywhere; environment, configuration and fields whose name says so. What only refers to a credential
 * (ExternalSecret, SealedSecret, `valueFrom`, names of Secrets) is none.
 */
export function secretsInClear(objects: readonly KubeObject[]): SecretInClear[] {
  return objects.flatMap((object) => {
    const name = `${object.kind} ${keyOf(object)}`;
    return placesIn(object).map(({ path, what }) => ({ object: name, path, what }));
  });
}

/**
 * Throws SECRET_IN_CLEAR that names the places and what to do instead; nothing of a credential is quoted.
 */
export function refuseSecretsInClear(objects: readonly KubeObject[]): void {
  const found = secretsInClear(objects);
  if (found.length === 0) return;
  const paths = new Map<string, string[]>();
  for (const { object, path, what } of found) {
    const subject = `${object} has ${what} in`;
    paths.set(subject, [...(paths.get(subject) ?? []), path]);
  }
  throw new MusterError(
    'SECRET_IN_CLEAR',
    some(
      [...paths].map(([subject, list]) => `${subject} ${some(list, ', ')}`),
      '; ',
    ),
    {
      hint:
        'Refer to it: by the name of a Secret that exists in the cluster, by an ExternalSecret or by a SealedSecret. ' +
        'If the manifests are applied at once and never committed, say so with allowSecrets (muster synth: --allow-secrets).',
    },
  );
}

/** The first few, and how many more there are. */
function some(texts: readonly string[], separator: string): string {
  const more = texts.length - named;
  return [...texts.slice(0, named), ...(more > 0 ? [`and ${more} more`] : [])].join(separator);
}

interface Place {
  readonly path: string;
  readonly what: string;
}

function placesIn(object: KubeObject): Place[] {
  const { kind, metadata, ...rest } = object as KubeObject & Record<string, unknown>;
  if (kind === 'Secret' && object.apiVersion === 'v1') {
    const { data, stringData, ...others } = rest;
    return [...valuesOf('data', data), ...valuesOf('stringData', stringData), ...walk(others, '', true)];
  }
  const readNames = !describing.has(kind);
  // Labels are for selecting: `secret=vault` says where something is, not what it is.
  const about = [
    ...walk({ labels: metadata.labels }, 'metadata', false),
    ...walk({ annotations: metadata.annotations }, 'metadata', true),
  ];
  return [...about, ...walk(withoutReferences(kind, rest), '', readNames)];
}

/** Every value of a Secret counts, whatever it looks like: that is what Secrets are for. */
function valuesOf(field: string, values: unknown): Place[] {
  return Object.entries((values as Record<string, unknown> | undefined) ?? {})
    .filter(([, value]) => value !== '' && value !== null && value !== undefined)
    .map(([key]) => ({ path: `${field}.${key}`, what: 'a value of a Secret' }));
}

/** What is encrypted may have any name and look like anything; what names an entry of a store is no credential. */
const notInClear: Readonly<Record<string, readonly string[]>> = {
  SealedSecret: ['encryptedData'],
  ExternalSecret: ['data', 'dataFrom'],
};

function withoutReferences(kind: string, rest: Record<string, unknown>): Record<string, unknown> {
  const left = notInClear[kind];
  if (left === undefined || typeof rest['spec'] !== 'object' || rest['spec'] === null) return rest;
  return { ...rest, spec: Object.fromEntries(Object.entries(rest['spec']).filter(([key]) => !left.includes(key))) };
}

function walk(value: unknown, path: string, readNames: boolean, name = ''): Place[] {
  if (typeof value === 'string') {
    const what = whatIs(value, name, readNames);
    return what === undefined ? [] : [{ path, what }];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => walk(item, `${path}[${index}]`, readNames));
  if (typeof value !== 'object' || value === null) return [];
  const variable = readNames && 'name' in value && 'value' in value ? value.name : undefined;
  return Object.entries(value).flatMap(([key, item]) => {
    const below = path === '' ? key : `${path}.${key}`;
    // An environment variable: its name says what the value is.
    const called = key === 'value' && typeof variable === 'string' ? variable : key;
    return walk(item, below, readNames, called);
  });
}

function whatIs(text: string, name: string, readNames: boolean): string | undefined {
  if (text.length === 0) return undefined;
  if (readNames && isSensitiveName(name) && isSensitiveValue(text)) return `the value of ${name}`;
  return credentialIn(text, readNames);
}
