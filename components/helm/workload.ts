/** What can be set at a Deployment of ours, for hub and agent alike. */
import { MusterError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/resource.ts';
import type { EnvVar, WorkloadProps } from '../fleet/props.ts';
import { Expression, raw, toTemplate } from './template.ts';
import { object, objects, text } from './values.ts';
import type { ChartValue } from './values.ts';

/** Variables that also decide ports and probes, which no template could follow. */
const bindAddress = /_(PROBE|METRICS)_BIND_ADDRESS$/;

/** The props that a chart is synthesized with: those that become values are taken out. */
export function withoutValues<T extends WorkloadProps>(props: T): Omit<T, 'tolerations' | 'envVars'> & WorkloadProps {
  const { tolerations: _tolerations, envVars = [], ...rest } = props;
  return { ...rest, envVars: envVars.filter(({ name }) => bindAddress.test(name)) };
}

interface Container {
  readonly env: readonly EnvVar[];
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly resources: unknown;
}

/** A Deployment of ours, as far as its values go. */
export interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: Readonly<Record<string, unknown>>;
      readonly spec: {
        readonly containers: readonly [Container];
        readonly tolerations: readonly unknown[];
        readonly imagePullSecrets?: readonly unknown[];
        readonly affinity?: unknown;
      };
    };
  };
}

/** A Deployment with expressions in it. */
export interface Templated extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly metadata: Readonly<Record<string, unknown>>;
      readonly [field: string]: unknown;
    };
    readonly [field: string]: unknown;
  };
}

/** The Deployment among synthesized objects. */
export function deploymentOf(synthesized: readonly KubeObject[]): Workload {
  const found = synthesized.find(({ kind }) => kind === 'Deployment');
  if (found === undefined) throw new MusterError('INTERNAL', 'the manifests have no Deployment');
  return found as Workload;
}

/**
 * The Deployment as a template.
 * @param own values of variables that depend on other values: name → expression
 */
export function templateOf(workload: Workload, own: Readonly<Record<string, string>> = {}): Templated {
  const { spec } = workload;
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const { affinity, imagePullSecrets: _pullSecrets, tolerations, ...rest } = pod;
  const { image: _image, imagePullPolicy: _policy, resources: _resources, env, ...others } = container;
  const podSpec = {
    ...rest,
    ...(affinity === undefined ? {} : { affinity: Expression.optionalBlock('$.Values.affinity') }),
    imagePullSecrets: Expression.optionalBlock('$.Values.imagePullSecrets'),
    tolerations: Expression.block(
      `(concat (fromJsonArray ${raw(JSON.stringify(tolerations))}) $.Values.tolerations | uniq)`,
    ),
    containers: [
      {
        ...others,
        image: Expression.scalar('$.Values.image | quote'),
        imagePullPolicy: Expression.optionalScalar('$.Values.imagePullPolicy'),
        resources: Expression.optionalBlock('$.Values.resources'),
        env: Expression.lines(environment(env, own)),
      },
    ],
  };
  const template = { ...spec.template, spec: podSpec };
  return { ...workload, spec: { ...spec, replicas: Expression.scalar('$.Values.replicas | int'), template } };
}

/** Variables of ours, unless the user sets one of the name; then those of the user. */
function environment(own: readonly EnvVar[], expressions: Readonly<Record<string, string>>): string {
  const ours = own.map((variable) => {
    const expression = expressions[variable.name];
    const shown = expression === undefined ? variable : { ...variable, value: Expression.scalar(expression) };
    const item = toTemplate([shown]);
    if (bindAddress.test(variable.name)) return item;
    return `{{- if not (hasKey $.Values.env ${JSON.stringify(variable.name)}) }}\n${item}{{- end }}\n`;
  });
  return `${ours.join('')}{{- include "muster.env" $.Values.env }}\n`;
}

/** Templates that {@link templateOf} refers to. */
export const workloadHelpers = `{{- define "muster.env" -}}
{{- range $name, $value := . -}}
{{- if regexMatch "_(PROBE|METRICS)_BIND_ADDRESS$" $name -}}
{{- fail (printf "env.%s decides ports and probes, too: give it to muster synth, not to helm" $name) -}}
{{- end -}}
{{- $variable := dict "name" $name -}}
{{- if kindIs "map" $value -}}
{{- $variable = merge $variable $value -}}
{{- else if ne (toString $value) "" -}}
{{- $variable = dict "name" $name "value" (toString $value) -}}
{{- end -}}
{{- list $variable | toYaml | nindent 12 -}}
{{- end -}}
{{- end -}}
`;

/** Values of every workload, with the defaults that the props mean. */
export function workloadValues(props: WorkloadProps, workload: Workload): ChartValue[] {
  const pod = workload.spec.template.spec;
  const [container] = pod.containers;
  const env = (props.envVars ?? []).filter(({ name }) => !bindAddress.test(name));
  const variables = env.map(({ name, value, valueFrom }) => [
    name,
    valueFrom === undefined ? (value ?? '') : { valueFrom },
  ]);
  return [
    { name: 'image', value: container.image, about: 'Container image.', schema: { ...text, minLength: 1 } },
    {
      name: 'imagePullPolicy',
      value: container.imagePullPolicy ?? '',
      about: 'When it is pulled; empty: what Kubernetes takes for the tag of the image.',
      schema: { enum: ['', 'Always', 'IfNotPresent', 'Never'] },
    },
    {
      name: 'imagePullSecrets',
      value: pod.imagePullSecrets ?? [],
      about: "Secrets of the release's namespace to pull with, such as [{ name: pull }].",
      schema: { type: 'array', items: { ...object, required: ['name'], properties: { name: text } } },
    },
    {
      name: 'replicas',
      value: props.replicas ?? 1,
      about: 'Pods; the one that holds the Lease works, the others stand by.',
      schema: { type: 'integer', minimum: 0 },
    },
    {
      name: 'resources',
      value: container.resources,
      about: 'Requests and limits; helm merges them with these ones, null takes one away.',
      schema: object,
    },
    {
      name: 'tolerations',
      value: props.tolerations ?? [],
      about: 'Added to those that every pod of muster has.',
      schema: objects,
    },
    ...(pod.affinity === undefined
      ? []
      : [{ name: 'affinity', value: pod.affinity, about: 'Which nodes are preferred or required.', schema: object }]),
    {
      name: 'env',
      value: Object.fromEntries(variables),
      about: 'Further environment: NAME: text, or NAME: { valueFrom: … }. Take credentials from Secrets.',
      schema: { ...object, additionalProperties: { type: ['string', 'number', 'boolean', 'object'] } },
    },
  ];
}
