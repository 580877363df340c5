/** Chart of the hub, from the very objects that `synthHub` gives. Its system namespace is that of the release. */
import { MusterError } from '../../api/errors.ts';
import { defaults } from '../../api/fleet/constants.ts';
import { hubConfigFields } from '../../api/fleet/hub-config.ts';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import { registrationNamespace } from '../../api/fleet/names.ts';
import { synthHub } from '../fleet/fleet-hub.ts';
import { localBootstrap } from '../fleet/local-agent.ts';
import { hubNames, workspaceLabel } from '../fleet/names.ts';
import type { HubProps } from '../fleet/props.ts';
import type { KubeObject } from '../../api/resource.ts';
import { chartFiles, kept } from './chart.ts';
import type { ChartFile, ChartObject } from './chart.ts';
import { jsonHelper } from './config.ts';
import { Expression, raw } from './template.ts';
import { lockDefaultAccount, object, text, texts } from './values.ts';
import type { ChartValue } from './values.ts';
import { deploymentOf, templateOf, withoutValues, workloadHelpers, workloadValues } from './workload.ts';
import type { Workload } from './workload.ts';

const system = 'helm-ns-0';
const workspace = 'helm-workspace-0';

const placeholders = {
  [system]: '$.Release.Namespace',
  [registrationNamespace(system)]: 'include "muster.registrationNamespace" $',
  [workspace]: '$workspace',
};

/** Parts of the configuration that other manifests follow; a value could change the ConfigMap alone. */
const structural = ['bootstrap', 'inventory'] as const;

/** The files of chart `muster-hub`. Throws INVALID_ARGUMENT. */
export function hubChart(props: HubProps): ChartFile[] {
  if (props.namespace !== undefined)
    throw new MusterError('INVALID_ARGUMENT', 'a chart has the namespace of its release', {
      where: 'namespace',
      hint: 'Leave it out, and give it to helm: helm install --namespace NAMESPACE --create-namespace.',
    });
  const local = localBootstrap(props.config)?.namespace;
  const objects = synthHub({ ...withoutValues(props), namespace: system, workspaces: [workspace] });
  const deployment = deploymentOf(objects);
  const range = `range $workspace := without (uniq $.Values.workspaces) ${JSON.stringify(local ?? '')}`;
  const shown = objects.flatMap((synthesized): ChartObject[] => {
    const { kind, metadata } = synthesized;
    if (kind === 'Namespace' && metadata.name === system) return [];
    // Its account is there before any chart: helm would take it for somebody else's.
    if (kind === 'ServiceAccount' && metadata.name === 'default')
      return [{ object: synthesized, when: 'if $.Values.lockDefaultAccount' }];
    const template = templated(synthesized);
    const isWorkspace = [metadata.name, metadata.namespace].includes(workspace);
    return [isWorkspace ? { object: template, when: range } : { object: template }];
  });
  return chartFiles({
    name: 'muster-hub',
    description: 'A hub that Kubernetes clusters register with.',
    objects: shown,
    placeholders,
    values: hubValues(props, deployment, local !== undefined),
    helpers: helpers(props.config),
    notes,
  });
}

function templated(synthesized: KubeObject): KubeObject {
  const { kind, metadata } = synthesized;
  if (kind === 'Deployment' && metadata.namespace === system) return templateOf(synthesized as never);
  if (kind === 'ConfigMap' && metadata.namespace === system)
    return { ...synthesized, data: { config: Expression.text('include "muster.config" $') } } as KubeObject;
  const holdsRegistrations =
    metadata.labels?.[workspaceLabel] === 'true' || metadata.name === registrationNamespace(system);
  return kind === 'Namespace' && holdsRegistrations ? kept(synthesized) : synthesized;
}

function hubValues(props: HubProps, deployment: Workload, hasLocalAgent: boolean): ChartValue[] {
  const { apiServerURL = '', apiServerCA = '', ...rest } = props.config;
  const config = Object.entries(rest).filter(([key]) => !(structural as readonly string[]).includes(key));
  return [
    {
      name: 'apiServerURL',
      value: apiServerURL,
      about: 'Address of this cluster as agents reach it: https://….',
      schema: text,
    },
    {
      name: 'apiServerCA',
      value: apiServerCA,
      about: 'Certificates that sign it, PEM or the base64 of it; empty when agents trust it anyway.',
      schema: text,
    },
    {
      name: 'workspaces',
      value: [...(props.workspaces ?? [defaults.defaultNamespace, defaults.localNamespace])].sort(),
      about: 'Namespaces for clusters and tokens. They are made, and stay when the release goes.',
      schema: texts,
    },
    {
      name: 'config',
      value: Object.fromEntries(config),
      about: `Further fields of the hub's configuration, such as agentCheckinInterval.`,
      schema: object,
    },
    ...workloadValues(props, deployment),
    ...(hasLocalAgent ? [lockDefaultAccount] : []),
  ];
}

function helpers({ bootstrap, inventory }: HubConfig): string {
  const fixed = JSON.stringify({ bootstrap, inventory });
  const order = hubConfigFields.map((field) => JSON.stringify(field)).join(' ');
  return `${workloadHelpers}
${jsonHelper}
{{- define "muster.registrationNamespace" -}}
{{- if contains "-system" $.Release.Namespace -}}
{{- replace "-system" "-clusters-system" $.Release.Namespace -}}
{{- else -}}
{{- printf "%s-clusters-system" $.Release.Namespace -}}
{{- end -}}
{{- end -}}

{{- define "muster.config" -}}
{{- range $key := list ${structural.map((key) => JSON.stringify(key)).join(' ')} -}}
{{- if hasKey $.Values.config $key -}}
{{- fail (printf "config.%s decides other manifests, too: give it to muster synth, not to helm" $key) -}}
{{- end -}}
{{- end -}}
{{- $config := merge (fromJson ${raw(fixed)}) (deepCopy $.Values.config) -}}
{{- with $.Values.apiServerURL -}}
{{- $config = set $config "apiServerURL" . -}}
{{- end -}}
{{- with $.Values.apiServerCA -}}
{{- $config = set $config "apiServerCA" (ternary (b64enc .) . (contains "-----BEGIN CERTIFICATE-----" .)) -}}
{{- end -}}
{{- $config = set $config "agentImage" (get $config "agentImage" | default $.Values.image) -}}
{{- include "muster.json" (dict "object" $config "order" (list ${order})) -}}
{{- end -}}
`;
}

const notes = `The hub is being started: kubectl --namespace {{ $.Release.Namespace }} rollout status deployment/${hubNames.deployment}
Its definitions come with chart muster-crds. Workspaces and registrations stay when this release is removed.
`;
