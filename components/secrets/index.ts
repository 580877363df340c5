/** Credentials as references, and the refusal of those in clear. */
export type { ExternalSecretProps } from './external-secret.ts';
export { refuseSecretsInClear, secretsInClear, type SecretInClear } from './in-clear.ts';
export { refuseSecretsInClearBelow } from './in-clear-below.ts';
export type { SealedSecretObject } from './sealed-secret.ts';
export type { ExternalSecretSource, SealedSecretSource, SecretReference, SecretSource } from './source.ts';
