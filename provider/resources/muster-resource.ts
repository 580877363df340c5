/** What the resource classes share: the stored provider, the type token, and secrets wrapped at the border. */
import { CustomResource, getProject, getStack, mergeOptions, secret } from '@pulumi/pulumi';
import type { CustomResourceOptions, Inputs } from '@pulumi/pulumi';
import type { ResourceKind } from '../handler.ts';
import { storedText } from './stored-text.ts';

/** What a resource class tells about itself. */
export interface ResourceShape {
  readonly kind: ResourceKind;
  /** Inputs and outputs whose value is secret as a whole. */
  readonly secrets: readonly string[];
  /** Outputs that are no inputs; unknown in a preview until the resource exists. */
  readonly outputs: readonly string[];
}

/**
 * Base of the Fleet resources: type token `pulumi-nodejs:dynamic/muster/fleet:KIND`. A dynamic resource in all that Pulumi
 * sees; `dynamic.Resource` itself would make the text of the provider anew in every run of every program.
 */
export abstract class MusterResource extends CustomResource {
  protected constructor(shape: ResourceShape, name: string, args: object, options: CustomResourceOptions | undefined) {
    const props: Inputs = Object.fromEntries([...shape.outputs, ...shape.secrets].map((output) => [output, undefined]));
    for (const [key, value] of Object.entries(args) as [string, unknown][]) {
      if (value !== undefined) props[key] = shape.secrets.includes(key) ? secret(value) : value;
    }
    const own = {
      kind: shape.kind,
      resourceName: name,
      owner: `${getProject()}/${getStack()}`,
      __provider: storedText,
    };
    const secrets = mergeOptions(options, { additionalSecretOutputs: [...shape.secrets] });
    super(`pulumi-nodejs:dynamic/muster/fleet:${shape.kind}`, name, { ...props, ...own }, secrets);
  }
}
