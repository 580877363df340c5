/** Inputs of `HubRelease` and their schema. */
import { z } from 'zod';
import { envVar, resourceRequirements, toleration } from '../../api/kubernetes/container.ts';
import { common, label } from '../inputs.ts';
import { hubConfigInputs } from './hub-config-inputs.ts';

const text = z.string().min(1);

/** The hub's workload, beside its image. */
export const hubContainer = {
  envVars: z.array(envVar).optional(),
  tolerations: z.array(toleration).optional(),
  resources: resourceRequirements('').optional(),
  hostNetwork: z.boolean().optional(),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional(),
  imagePullSecrets: z.array(text).optional(),
  replicas: z.int().min(0).max(9).optional(),
};

/** What the hub's manifests are made from. */
export const hubFields = {
  ...hubContainer,
  image: text,
  namespace: label,
  config: hubConfigInputs,
  workspaces: z.array(label).optional(),
};
export type HubFields = z.infer<z.ZodObject<typeof hubFields>>;

export const hubInputs = z.strictObject({ ...common, ...hubFields, force: z.boolean() });
export type HubInputs = z.infer<typeof hubInputs>;
