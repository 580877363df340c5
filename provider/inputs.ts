/** What all resources take, and how inputs are checked: by schema, with unknowns let through, never by exception. */
import { z } from 'zod';
import { parseGoDuration } from '../api/duration.ts';
import { isMusterError } from '../api/errors.ts';
import { isDnsLabel } from '../api/kubernetes/names.ts';
import { isLabelKey, isLabelValue } from '../api/labels.ts';
import { violations } from '../api/validate.ts';
import { parseKubeconfig } from '../runtime/kube/kubeconfig.ts';
import { kubeconfigText } from './configuration.ts';
import type { CheckFailure, Props } from './handler.ts';
import { hasUnknown, isUnknown, unknownPaths } from './unknowns.ts';

/** A Go duration above zero. */
export const duration = z.string().superRefine((text, context) => {
  try {
    if (parseGoDuration(text) > 0) return;
    context.addIssue({ code: 'custom', message: 'a duration above zero is needed' });
  } catch (error) {
    context.addIssue({ code: 'custom', message: reasonOf(error) });
  }
});

/** Name of an object that becomes part of other names. */
export const label = z
  .string()
  .refine(isDnsLabel, 'must be 1 to 63 lower-case letters, digits and "-", with a letter or digit at both ends');

const labels = z.record(z.string(), z.string()).superRefine((value, context) => {
  for (const [key, text] of Object.entries(value)) {
    if (!isLabelKey(key)) context.addIssue({ code: 'custom', path: [key], message: 'is not a valid label key' });
    if (!isUnknown(text) && !isLabelValue(text)) {
      context.addIssue({ code: 'custom', path: [key], message: `${JSON.stringify(text)} is not a valid label value` });
    }
  }
});

/** Name, namespace, labels and annotations, as in Pulumi's Kubernetes provider. */
export const metadata = z.strictObject({
  name: label,
  namespace: label,
  labels: labels.optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});
export type Metadata = z.infer<typeof metadata>;

/** The same of a kind that has no namespaces. */
export const clusterMetadata = metadata.omit({ namespace: true });

/** Metadata of a kind of either sort. */
export type AnyMetadata = Omit<Metadata, 'namespace'> & { namespace?: string | undefined };

export const timeouts = z.strictObject({
  create: duration.optional(),
  update: duration.optional(),
  delete: duration.optional(),
});

/** A kubeconfig of the user's own, as text or path: exec plugins and files are fine. */
export const userKubeconfig = z.string().superRefine((text, context) => checkKubeconfig(text, 'user', context));

/** A kubeconfig that the hub will use: nothing that runs or reads something on the hub. */
export const hubKubeconfig = z.string().superRefine((text, context) => checkKubeconfig(text, 'hub', context));

function checkKubeconfig(text: string, policy: 'hub' | 'user', context: z.RefinementCtx): void {
  if (isUnknown(text)) return;
  try {
    parseKubeconfig(policy === 'user' ? kubeconfigText(text) : text, { policy });
  } catch (error) {
    context.addIssue({ code: 'custom', message: reasonOf(error) });
  }
}

/** How to reach the hub. */
export const connection = z.strictObject({ kubeconfig: userKubeconfig, context: z.string().min(1).optional() });

/** Inputs that every resource has. */
export const common = {
  kind: z.string(),
  /** Logical name of the Pulumi resource: what automatic names start with. */
  resourceName: z.string(),
  /** `project/stack`: written on objects, so that another stack's object is never taken over. */
  owner: z.string(),
  hub: connection.optional(),
  timeouts: timeouts.optional(),
  awaitReady: z.boolean(),
};

/** Inputs that every resource has which is one object of the hub. */
export interface ObjectInputs extends z.infer<z.ZodObject<typeof common>> {
  metadata: AnyMetadata;
}

/** Checks `inputs`; what is unknown, or lies above or below something unknown, is left for the run that knows it. */
export function failuresOf(schema: z.ZodType, inputs: Props): CheckFailure[] {
  const unknown = unknownPaths(inputs);
  const open = (path: string): boolean => unknown.some((other) => within(path, other) || within(other, path));
  return violations(schema, inputs)
    .filter(({ path }) => !open(path))
    .map(({ path, message }) => ({ property: path, reason: message }));
}

function within(path: string, parent: string): boolean {
  return path === parent || parent === '' || path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`);
}

/** Null members are absent ones: Pulumi programs pass them when an optional value is not set. */
export function withoutNulls(props: Props): Props {
  return Object.fromEntries(Object.entries(props).filter(([, value]) => value !== null && value !== undefined));
}

/** Whether a secret text is there and known. */
export function known(value: unknown): boolean {
  return value !== undefined && !hasUnknown(value);
}

function reasonOf(error: unknown): string {
  if (!isMusterError(error)) return error instanceof Error ? error.message : String(error);
  return `[${error.code}] ${error.message}${error.hint === undefined ? '' : ` ${error.hint}`}`;
}
