/** Where a credential comes from. Never the credential itself: what is synthesized may be committed to Git. */
import type { ExternalSecretProps } from './external-secret.ts';
import type { SealedSecretObject } from './sealed-secret.ts';

/** A Secret that somebody else makes. */
export interface SecretReference {
  readonly name: string;
  /** Default: that of the object that refers to it. */
  readonly namespace?: string;
}

/** A Secret that External Secrets makes from a secret store; we render the ExternalSecret. */
export interface ExternalSecretSource {
  readonly externalSecret: ExternalSecretProps;
}

/** A Secret that Sealed Secrets makes; `sealedSecret` is what `kubeseal` printed, taken as it is. */
export interface SealedSecretSource {
  readonly sealedSecret: SealedSecretObject;
}

/** One of the three. */
export type SecretSource = SecretReference | ExternalSecretSource | SealedSecretSource;
