/** One object as a resource of the user's own provider of Kubernetes. */
import { CustomResource, mergeOptions, secret } from '@pulumi/pulumi';
import type { CustomResourceOptions, Output } from '@pulumi/pulumi';
import type { KubeObject } from '../../api/resource.ts';
import type { OpenObject } from './open-args.ts';

/**
 * The same resource as the class of `@pulumi/kubernetes` for this kind makes: same type, inputs and outputs. The package
 * itself is not needed for it, only the provider that the user has made with it.
 */
export class KubernetesObject extends CustomResource {
  declare readonly apiVersion: Output<string>;
  declare readonly kind: Output<string>;
  declare readonly metadata: Output<KubeObject['metadata']>;
  /** As the cluster reports it; absent for kinds without one. */
  declare readonly status: Output<Readonly<Record<string, unknown>> | undefined>;

  constructor(name: string, { apiVersion, kind, fields }: OpenObject, options: CustomResourceOptions) {
    const isSecret = kind === 'Secret';
    super(
      typeToken(apiVersion, kind),
      name,
      { ...fields, ...(isSecret ? { data: secret(fields['data']) } : {}), status: undefined },
      isSecret ? mergeOptions(options, { additionalSecretOutputs: ['data', 'stringData'] }) : options,
    );
  }
}

/** `apps/v1`, `Deployment` → `kubernetes:apps/v1:Deployment`; the group without a name is called `core`. */
export function typeToken(apiVersion: string, kind: string): string {
  return `kubernetes:${apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`}:${kind}`;
}
