/**
 * Chart of the agent, from the very objects that `synthAgent` gives. Its namespace is that of the release; it takes the
 * values file of a registration token as it is, as Fleet's own chart does.
 */
import { agentConfigFields } from '../../api/fleet/agent-config.ts';
import { bootstrapKeys } from '../../api/fleet/bootstrap-values.ts';
import type { BootstrapValues } from '../../api/fleet/bootstrap-values.ts';
import { configKey, defaults, secretNames } from '../../api/fleet/constants.ts';
import { MusterError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/resource.ts';
import { synthAgent } from '../fleet/fleet-agent.ts';
import { podAnnotations } from '../fleet/names.ts';
import type { AgentProps } from '../fleet/props.ts';
import { chartFiles } from './chart.ts';
import type { ChartFile, ChartObject } from './chart.ts';
import { jsonHelper } from './config.ts';
import { Expression } from './template.ts';
import { lockDefaultAccount, object, text } from './values.ts';
import type { ChartValue } from './values.ts';
import { deploymentOf, templateOf, withoutValues, workloadHelpers, workloadValues } from './workload.ts';
import type { Templated, Workload } from './workload.ts';

const namespace = 'helm-ns-0';

/** Cluster-scoped names are made of the namespace and end so; longer ones would be cut and hashed, which helm cannot. */
const longestNamespace = 63 - '-fleet-agent-role-binding'.length;

/** The files of chart `muster-agent`. Throws INVALID_ARGUMENT. */
export function agentChart(props: AgentProps): ChartFile[] {
  refuse(props);
  const base = withEverything(props);
  const alone = synthAgent({ ...base, replicas: 1 });
  const workload = deploymentOf(alone);
  const several = deploymentOf(synthAgent({ ...base, replicas: 2 }));
  const expressions = { ...byReplicas(workload, several), CHECKIN_INTERVAL: '$.Values.checkinInterval | quote' };
  const shown = alone.flatMap((synthesized): ChartObject[] => {
    const { kind, metadata } = synthesized;
    if (kind === 'Namespace') return [];
    // Its account is there before any chart: helm would take it for somebody else's.
    if (kind === 'ServiceAccount' && metadata.name === 'default')
      return [{ object: synthesized, when: 'if $.Values.lockDefaultAccount' }];
    if (kind === 'Deployment') return [{ object: withAnnotations(templateOf(workload, expressions)) }];
    if (kind === 'ConfigMap') return [{ object: configMap(synthesized), when: 'if include "muster.config" $' }];
    if (kind === 'Secret') return [{ object: bootstrapSecret(synthesized), when: 'if $.Values.token' }];
    return [{ object: synthesized }];
  });
  return chartFiles({
    name: 'muster-agent',
    description: 'The agent that registers a Kubernetes cluster with a hub.',
    objects: shown,
    placeholders: { [namespace]: '$.Release.Namespace' },
    values: agentValues(props, workload),
    helpers: helpers(props),
    notes: notes(props.bootstrapSecret !== undefined),
  });
}

function refuse({ namespace: given, bootstrap, hubAddress }: AgentProps): void {
  const refused = (where: string, message: string, hint: string): never => {
    throw new MusterError('INVALID_ARGUMENT', message, { where, hint });
  };
  if (given !== undefined)
    refused(
      'namespace',
      'a chart has the namespace of its release',
      'Give it to helm: helm install --namespace NAMESPACE.',
    );
  if (bootstrap !== undefined)
    refused(
      'bootstrap',
      'a chart holds no credential',
      'Give the values of the token to helm: helm install --values FILE.',
    );
  if (hubAddress !== undefined)
    refused('hubAddress', 'is told by the hub', 'Leave it out; agents follow their hub by themselves.');
}

/** With every object that a value may ask for; what is in them is put in by templates. */
function withEverything(props: AgentProps): AgentProps {
  const { labels: _labels, agentTLSMode: _mode, garbageCollectionInterval: _interval, ...rest } = withoutValues(props);
  const bootstrap = Object.fromEntries(bootstrapKeys.map((key) => [key, key])) as unknown as BootstrapValues;
  return {
    ...rest,
    namespace,
    clientID: 'placeholder',
    ...(props.bootstrapSecret === undefined ? { bootstrap } : {}),
  };
}

/** Variables that are others when several pods wait for one Lease: name → expression. */
function byReplicas(alone: Workload, several: Workload): Record<string, string> {
  const values = (workload: Workload) =>
    new Map(workload.spec.template.spec.containers[0].env.map(({ name, value }) => [name, value]));
  const ifSeveral = values(several);
  const different = [...values(alone)].filter(([name, value]) => ifSeveral.get(name) !== value);
  return Object.fromEntries(
    different.map(([name, value]) => {
      const [one, other] = [value, ifSeveral.get(name)].map((each) => JSON.stringify(each ?? ''));
      return [name, `ternary ${other} ${one} (gt (int $.Values.replicas) 1) | quote`];
    }),
  );
}

function withAnnotations(deployment: Templated): Templated {
  const { spec } = deployment;
  const annotations = Expression.optionalBlock('(include "muster.podAnnotations" $ | fromYaml)');
  const metadata = { ...spec.template.metadata, annotations };
  return { ...deployment, spec: { ...spec, template: { ...spec.template, metadata } } };
}

function configMap(synthesized: KubeObject): KubeObject {
  return { ...synthesized, data: { [configKey]: Expression.text('include "muster.config" $') } } as KubeObject;
}

function bootstrapSecret(synthesized: KubeObject): KubeObject {
  // Certificates end with a line break; a token that does is one that was copied badly.
  const value = (key: string) => (key === 'apiServerCA' ? `$.Values.${key}` : `$.Values.${key} | trim`);
  const data = bootstrapKeys.map((key) => [key, Expression.scalar(`${value(key)} | b64enc | quote`)]);
  return { ...synthesized, data: Object.fromEntries(data) as unknown } as KubeObject;
}

function agentValues(props: AgentProps, workload: Workload): ChartValue[] {
  const ofToken = props.bootstrapSecret === undefined ? bootstrapKeys : [];
  return [
    ...ofToken.map((name) => ({
      name,
      value: '',
      about: `From the values of a registration token; keep them out of Git: helm install --values FILE.`,
      schema: text,
    })),
    {
      name: 'internal',
      value: {},
      about: 'From the values of a registration token of a hub whose agents are in another namespace.',
      schema: object,
    },
    {
      name: 'clientID',
      value: props.clientID ?? '',
      about: 'Identity at the hub; empty: the UID of namespace kube-system.',
      schema: text,
    },
    {
      name: 'labels',
      value: props.labels ?? {},
      about: 'Labels that the agent asks for when it registers.',
      schema: { ...object, additionalProperties: text },
    },
    {
      name: 'checkinInterval',
      value: props.checkinInterval ?? defaults.checkinInterval,
      about: 'Time between heartbeats, a Go duration.',
      schema: text,
    },
    {
      name: 'agentTLSMode',
      value: props.agentTLSMode ?? '',
      about: 'system-store or strict; empty: system-store.',
      schema: { enum: ['', 'system-store', 'strict'] },
    },
    {
      name: 'garbageCollectionInterval',
      value: props.garbageCollectionInterval ?? '',
      about: `A Go duration; empty: ${defaults.garbageCollectionInterval}.`,
      schema: text,
    },
    ...workloadValues({ ...props, replicas: props.replicas ?? 1 }, workload),
    lockDefaultAccount,
  ];
}

function helpers({ redeployGeneration }: AgentProps): string {
  const fixed =
    redeployGeneration === undefined ? '' : `${JSON.stringify(podAnnotations.redeploy)} "${redeployGeneration}"`;
  const fields = agentConfigFields.map((field) => JSON.stringify(field)).join(' ');
  return `${workloadHelpers}
${jsonHelper}
{{- define "muster.config" -}}
{{- if gt (len $.Release.Namespace) ${longestNamespace} -}}
{{- fail "the namespace of the release may have ${longestNamespace} characters at most: names of ClusterRoles are made of it" -}}
{{- end -}}
{{- $meant := get $.Values.internal "systemNamespace" | default $.Release.Namespace -}}
{{- if ne $meant $.Release.Namespace -}}
{{- fail (printf "the values are those of an agent in namespace %s: give helm --namespace %s" $meant $meant) -}}
{{- end -}}
{{- $config := dict -}}
{{- range $field := list ${fields} -}}
{{- with get $.Values $field -}}
{{- $config = set $config $field . -}}
{{- end -}}
{{- end -}}
{{- if $config -}}
{{- include "muster.json" (dict "object" $config "order" (list ${fields})) -}}
{{- end -}}
{{- end -}}

{{- define "muster.podAnnotations" -}}
{{- $annotations := dict ${fixed} -}}
{{- with include "muster.config" $ -}}
{{- $annotations = set $annotations ${JSON.stringify(podAnnotations.config)} (sha256sum . | trunc 16) -}}
{{- end -}}
{{- toYaml $annotations -}}
{{- end -}}
`;
}

function notes(hasSource: boolean): string {
  const waiting = `The agent waits for Secret ${secretNames.bootstrap} in {{ $.Release.Namespace }}, with the values of a registration token.`;
  return hasSource
    ? `${waiting}\n`
    : `{{- if $.Values.token }}\nThe agent registers this cluster.\n{{- else }}\n${waiting}\n{{- end }}\n`;
}
