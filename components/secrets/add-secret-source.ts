/** From where a credential comes to the Secret that a construct needs. */
import type { Construct } from 'constructs';
import { MusterError } from '../../api/errors.ts';
import { checkName } from '../../api/kubernetes/names.ts';
import { addExternalSecret } from './external-secret.ts';
import { addSealedSecret } from './sealed-secret.ts';
import type { SecretSource } from './source.ts';

/** The Secret that a construct needs. */
export interface WantedSecret {
  /** Its name when the source names none. */
  readonly name: string;
  readonly namespace: string;
  /** No other name will do, because its reader knows this one only. Default: false. */
  readonly fixed?: boolean;
  /** An existing one may be in another namespace. Default: false. */
  readonly elsewhere?: boolean;
  /** Key that holds the credential when it is one text. */
  readonly key?: string;
  /** Whether an entry of a store is an object with the keys of the Secret, unless the source says. Default: false. */
  readonly extract?: boolean;
  /** Type of the Secret. Default: `Opaque`. */
  readonly type?: string;
  /** Prop, for errors. */
  readonly where: string;
}

/** Name of the Secret that the source is or makes. Throws INVALID_ARGUMENT. */
export function secretNameOf(source: SecretSource, wanted: WantedSecret): string {
  const name = givenName(source) ?? wanted.name;
  checkName(name, `${wanted.where}.name`, 'subdomain');
  if (wanted.fixed && name !== wanted.name)
    throw new MusterError('INVALID_ARGUMENT', `the Secret must be called ${wanted.name}, not ${name}`, {
      where: wanted.where,
      hint: 'Its reader knows no other name.',
    });
  const namespace = givenNamespace(source);
  if (namespace !== undefined && namespace !== wanted.namespace && !(wanted.elsewhere && isReference(source)))
    throw new MusterError('INVALID_ARGUMENT', `the Secret must be in ${wanted.namespace}, not in ${namespace}`, {
      where: wanted.where,
      hint: 'Give the namespace of the object that refers to it, or none.',
    });
  return name;
}

/** Adds what makes the Secret, if anything of ours does; returns its name. Throws INVALID_ARGUMENT. */
export function addSecretSource(scope: Construct, id: string, source: SecretSource, wanted: WantedSecret): string {
  const name = secretNameOf(source, wanted);
  if ('externalSecret' in source) addExternalSecret(scope, id, source.externalSecret, { ...wanted, name });
  if ('sealedSecret' in source) addSealedSecret(scope, id, source.sealedSecret, { ...wanted, name });
  return name;
}

const isReference = (source: SecretSource): boolean => !('externalSecret' in source) && !('sealedSecret' in source);

function givenName(source: SecretSource): string | undefined {
  if ('externalSecret' in source) return source.externalSecret.name;
  return 'sealedSecret' in source ? source.sealedSecret.metadata.name : source.name;
}

function givenNamespace(source: SecretSource): string | undefined {
  if ('externalSecret' in source) return undefined;
  return 'sealedSecret' in source ? source.sealedSecret.metadata.namespace : source.namespace;
}
