/** A ValidatingAdmissionPolicy with its binding. Kubernetes 1.30 and newer. */
import type { Construct } from 'constructs';
import { addObject } from '../add-object.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';

export interface NamedExpression {
  readonly name: string;
  /** Common Expression Language. */
  readonly expression: string;
}

export interface Policy {
  readonly name: string;
  /** Which requests. */
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly apiVersions: readonly string[];
    readonly operations: readonly string[];
    readonly resources: readonly string[];
  }[];
  /** Only in namespaces with all of these labels. Default: in all. */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /** Whose requests; all of them must hold. Default: everyone's. */
  readonly matchConditions?: readonly NamedExpression[];
  /** Evaluated when used, once. Default: none. */
  readonly variables?: readonly NamedExpression[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

/** A string literal; JSON's escapes are a subset of CEL's. */
export function cel(text: string): string {
  return JSON.stringify(text);
}

/** CEL: the namespace of the object has this label, value `true`. */
export function inNamespaceLabelled(label: string): string {
  return `namespaceObject.metadata.?labels[?${cel(label)}].orValue("") == "true"`;
}

/** The policy, and a binding of the same name that makes it deny everywhere. */
export function addPolicy(scope: Construct, policy: Policy, labels: Readonly<Record<string, string>>): void {
  const metadata = { name: policy.name, labels };
  addObject(scope, `policy:${policy.name}`, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      // Kubernetes' defaults are said, because it compares lists, and this field, as a whole: whoever applies in another
      // way than the one before would meet a conflict, and kubectl a difference that never goes.
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: policy.namespaceLabels === undefined ? {} : { matchLabels: policy.namespaceLabels },
        objectSelector: {},
        resourceRules: policy.rules.map((rule) => ({ ...rule, scope: '*' })),
      },
      ...(policy.matchConditions === undefined ? {} : { matchConditions: policy.matchConditions }),
      ...(policy.variables === undefined ? {} : { variables: policy.variables }),
      validations: policy.validations.map((validation) => ({ ...validation, reason: 'Forbidden' })),
    },
  });
  addObject(scope, `policy-binding:${policy.name}`, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: policy.name, validationActions: ['Deny'] },
  });
}
