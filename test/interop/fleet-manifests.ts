/** What has to be in a cluster before Fleet's programs can work in it: by Fleet's charts, or written out here. */
import { annotations, configKey, configMapNames, group, version } from '../../api/fleet/constants.ts';
import { formatAgentConfig } from '../../api/fleet/agent-config.ts';
import type { BootstrapValues } from '../../api/fleet/bootstrap-values.ts';
import { bootstrapSecretData, formatValues } from '../../api/fleet/bootstrap-values.ts';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import { formatHubConfig } from '../../api/fleet/hub-config.ts';
import type { KubeObject } from '../../api/resource.ts';
import { synthCrds } from '../../components/fleet/index.ts';
import { renderChart } from './chart.ts';
import { programs } from './programs.ts';

export const systemNamespace = 'cattle-fleet-system';
const rbac = 'rbac.authorization.k8s.io';
const everything = ['*'];

/** Settings of a hub of Fleet. `apiServerCA` is PEM text. */
export interface FleetHubSettings {
  readonly apiServerURL: string;
  readonly apiServerCA: string;
}

/** Definitions, account, rights and configuration of a hub of Fleet. */
export async function fleetHubManifests(settings: FleetHubSettings): Promise<KubeObject[]> {
  const namespaces = [systemNamespace, 'fleet-default'].map(namespaceOf);
  const { charts } = programs;
  if (charts === undefined) return [...synthCrds(), ...otherDefinitions(), ...namespaces, ...hubByHand(settings)];
  const release = { release: 'fleet', namespace: systemNamespace };
  const values = {
    ...settings,
    bootstrap: { enabled: false },
    gitops: { enabled: false },
    helmops: { enabled: false },
  };
  const definitions = await renderChart({ ...release, folder: `${charts}/fleet-crd` });
  const rest = await renderChart({ ...release, folder: `${charts}/fleet`, values });
  return [...definitions, ...namespaces, ...rest.filter(({ kind }) => kind !== 'Deployment')];
}

/** An agent of Fleet as its chart installs it; `labels` and `clientID` are the user's. */
export async function fleetAgentManifests(
  values: BootstrapValues,
  { clientID, labels }: { clientID: string; labels: Record<string, string> },
): Promise<KubeObject[]> {
  const { charts } = programs;
  const namespace = namespaceOf(systemNamespace);
  if (charts === undefined) return [namespace, ...agentByHand(values, { clientID, labels })];
  const rendered = await renderChart({
    folder: `${charts}/fleet-agent`,
    release: 'fleet-agent',
    namespace: systemNamespace,
    valuesText: formatValues(values),
    values: { clientID, labels },
  });
  return [namespace, ...rendered];
}

const namespaceOf = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** Kinds that Fleet's hub watches and that muster has no use for. */
function otherDefinitions(): KubeObject[] {
  const kinds = { GitRepoRestriction: '', HelmOp: '', ImageScan: '', Policy: 'policies', Schedule: '' };
  return Object.entries(kinds).map(([kind, irregular]) => {
    const singular = kind.toLowerCase();
    const plural = irregular || `${singular}s`;
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, plural, singular, listKind: `${kind}List` },
        versions: [{ name: version, served: true, storage: true, subresources: { status: {} }, schema }],
      },
    };
  });
}

function hubByHand({ apiServerURL, apiServerCA }: FleetHubSettings): KubeObject[] {
  const name = 'fleet-controller';
  const config: HubConfig = {
    ...{ apiServerURL, apiServerCA: Buffer.from(apiServerCA).toString('base64') },
    // Fleet's hub has no defaults of its own for these
    ...{ agentTLSMode: 'system-store', agentCheckinInterval: '15m', garbageCollectionInterval: '15m' },
    agentWorkers: { bundledeployment: '50', drift: '50' },
  };
  const all = (apiGroup: string, ...resources: string[]) => ({ apiGroups: [apiGroup], resources, verbs: everything });
  const rules = [
    all(group, '*'),
    all('', 'namespaces', 'serviceaccounts', 'secrets', 'configmaps', 'events'),
    all(rbac, 'clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'),
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['watch', 'list', 'get'] },
  ];
  return [
    account(name),
    ...bound(name, undefined, rules),
    ...bound(name, systemNamespace, [all('', 'configmaps'), all('coordination.k8s.io', 'leases')]),
    {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { [configKey]: formatHubConfig(config) } },
      metadata: {
        name: configMapNames.hub,
        namespace: systemNamespace,
        annotations: { [annotations.version]: 'dev' },
      },
    },
  ] as KubeObject[];
}

function agentByHand(
  values: BootstrapValues,
  { clientID, labels }: { clientID: string; labels: Record<string, string> },
): KubeObject[] {
  const own = { namespace: systemNamespace };
  return [
    account('fleet-agent'),
    ...bound('fleet-agent', undefined, [
      { apiGroups: everything, resources: everything, verbs: everything },
      { nonResourceURLs: everything, verbs: everything },
    ]),
    {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...own, name: configMapNames.agent } },
      data: { [configKey]: formatAgentConfig({ clientID, labels, agentTLSMode: 'system-store' }) },
    },
    {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { ...own, name: 'fleet-agent-bootstrap' } },
      data: bootstrapSecretData(values),
    },
  ] as KubeObject[];
}

const account = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: systemNamespace },
});

/** Rules and their binding to the account of that name; of the cluster unless a namespace is given. */
function bound(name: string, namespace: string | undefined, rules: readonly object[]): KubeObject[] {
  const prefix = namespace === undefined ? 'Cluster' : '';
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const subjects = [{ kind: 'ServiceAccount', name, namespace: systemNamespace }];
  const apiVersion = `${rbac}/v1`;
  return [
    { apiVersion, kind: `${prefix}Role`, metadata, ...{ rules } },
    {
      ...{ apiVersion, kind: `${prefix}RoleBinding`, metadata },
      ...{ roleRef: { apiGroup: rbac, kind: `${prefix}Role`, name }, subjects },
    },
  ];
}
