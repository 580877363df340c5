/** The Secret by which Argo CD knows a cluster (Argo CD: declarative setup, clusters). Holds a credential: never for Git. */
import { labels as fleetLabels, managedByMuster } from '../../api/fleet/constants.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import { argoCDClusterAnnotation, argoCDSecretName, argoCDSecretType } from './argocd-names.ts';

export interface ArgoCDSecretProps {
  /** Argo CD's. */
  readonly namespace: string;
  readonly cluster: { readonly namespace: string; readonly name: string };
  /** Of the Cluster, without those that are not for others: generators of Argo CD select by them. */
  readonly labels: Readonly<Record<string, string>>;
  readonly server: string;
  /** PEM. Absent: the system's certificates. */
  readonly ca?: string;
  /** Name in the server's certificate when it is not the one in `server`. */
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  readonly token: string;
  /** Namespaces that Argo CD may work in, without cluster-scoped kinds. Absent: the whole cluster. */
  readonly namespaces?: readonly string[];
  /** Absent: every project may use the cluster. */
  readonly project?: string;
}

export function argoCDSecret(props: ArgoCDSecretProps): Secret {
  const { cluster, namespaces, project } = props;
  const config = {
    bearerToken: props.token,
    tlsClientConfig: {
      insecure: false,
      ...(props.tlsServerName === undefined ? {} : { serverName: props.tlsServerName }),
      ...(props.ca === undefined ? {} : { caData: Buffer.from(props.ca).toString('base64') }),
    },
    ...(props.proxyUrl === undefined ? {} : { proxyUrl: props.proxyUrl }),
  };
  const texts = {
    name: `${cluster.namespace}-${cluster.name}`,
    server: props.server,
    config: JSON.stringify(config),
    ...(namespaces === undefined ? {} : { namespaces: [...namespaces].sort().join(','), clusterResources: 'false' }),
    ...(project === undefined ? {} : { project }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      name: argoCDSecretName(cluster.namespace, cluster.name),
      namespace: props.namespace,
      labels: {
        ...props.labels,
        [argoCDSecretType.key]: argoCDSecretType.value,
        [fleetLabels.managedBy]: managedByMuster,
      },
      annotations: { [argoCDClusterAnnotation]: `${cluster.namespace}/${cluster.name}` },
    },
    data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  };
}
