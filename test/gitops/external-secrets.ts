/** The part of External Secrets in a cluster: its definition, and Secrets out of a store that the test holds. */
import { CustomResourceDefinitions } from '../../api/kubernetes/workloads.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { isTrue } from '../../api/conditions.ts';
import type { Condition } from '../../api/conditions.ts';
import type { KubeObject } from '../../api/resource.ts';
import { ExternalSecrets } from '../../components/secrets/kinds.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { poll } from '../harness/index.ts';

interface ExternalSecret extends KubeObject {
  readonly spec: {
    readonly target: { readonly name: string };
    readonly data: readonly {
      readonly secretKey: string;
      readonly remoteRef: { readonly key: string; readonly property?: string };
    }[];
  };
}

/** Installs the definition, and waits until it is served. */
export async function installExternalSecrets(client: KubeClient): Promise<void> {
  const { group, kind, plural, version } = ExternalSecrets;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const name = `${plural}.${group}`;
  await client.apply(
    CustomResourceDefinitions,
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group,
        names: { kind, plural },
        scope: 'Namespaced',
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    } as KubeObject,
    { fieldManager: 'external-secrets' },
  );
  const established = async (): Promise<true | undefined> => {
    const { status } = (await client.get(CustomResourceDefinitions, { name })) as KubeObject & {
      status?: { conditions?: Condition[] };
    };
    return isTrue(status?.conditions, 'Established') ? true : undefined;
  };
  await poll(established, { what: 'the definition of ExternalSecret' });
}

/** Makes the Secret of each ExternalSecret of a namespace, once there is one. `entries`: values by `key/property`. */
export async function fetchSecrets(
  client: KubeClient,
  namespace: string,
  entries: Readonly<Record<string, string>>,
): Promise<void> {
  const look = async (): Promise<ExternalSecret[] | undefined> => {
    const { items } = await client.list(ExternalSecrets, { namespace });
    return items.length === 0 ? undefined : (items as ExternalSecret[]);
  };
  for (const { spec } of await poll(look, { what: `an ExternalSecret in ${namespace}` })) {
    const data = spec.data.map(({ secretKey, remoteRef: { key, property = '' } }) => {
      const value = entries[`${key}/${property}`];
      if (value === undefined) throw new Error(`the store has no entry ${key}/${property}`);
      return [secretKey, Buffer.from(value).toString('base64')] as const;
    });
    await client.apply(
      Secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: spec.target.name, namespace },
        data: Object.fromEntries(data),
      },
      { fieldManager: 'external-secrets' },
    );
  }
}
