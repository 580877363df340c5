/** A workload for one cluster, written as a hub writes it, and its arrival. */
import { gzipSync } from 'node:zlib';
import { createHash } from 'node:crypto';
import { labels } from '../../api/fleet/constants.ts';
import type { Cluster } from '../../api/fleet/kinds.ts';
import { BundleDeployments, Contents } from '../../api/fleet/kinds.ts';
import { contentName, deploymentId, manifestJSON } from '../../api/fleet/names.ts';
import { ConfigMaps } from '../../api/kubernetes/core.ts';
import { poll } from '../harness/index.ts';
import type { AtHub } from '../support/registering.ts';
import type { InteropEdge } from './edge.ts';

const apiVersion = 'fleet.cattle.io/v1alpha1';

/** Fleet's agent installs it and says so: its credential reads contents and writes the status of its deployments. */
export async function deploy(hub: AtHub, cluster: Cluster, edge: InteropEdge): Promise<void> {
  const name = `greeting-${cluster.metadata.name ?? ''}`;
  const namespace = cluster.status?.namespace ?? '';
  const greeting = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { hello: 'edge' } };
  const json = manifestJSON([{ name: 'greeting.yaml', content: JSON.stringify(greeting) }]);
  const content = contentName(json);
  await hub.admin.create(Contents, {
    ...{ apiVersion, kind: 'Content', metadata: { name: content } },
    content: gzipSync(json).toString('base64'),
    sha256sum: createHash('sha256').update(json).digest('hex'),
  });
  const options = { defaultNamespace: 'default' };
  const id = deploymentId(content, options);
  await hub.admin.create(BundleDeployments, {
    ...{ apiVersion, kind: 'BundleDeployment' },
    metadata: { name, namespace, labels: { [labels.contentName]: content } },
    spec: { deploymentID: id, options, stagedDeploymentID: id, stagedOptions: options },
  });
  await poll(() => edge.client.find(ConfigMaps, { namespace: 'default', name }), { what: 'the workload' });
  await poll(
    async () => {
      const { status } = await hub.admin.get(BundleDeployments, { namespace, name });
      return status?.ready === true && status.appliedDeploymentID === id ? true : undefined;
    },
    { what: 'the agent to report its workload as ready' },
  );
  await hub.admin.delete(BundleDeployments, { namespace, name });
  await poll(async () => ((await edge.client.find(ConfigMaps, { namespace: 'default', name })) ? undefined : true), {
    what: 'the workload to go',
  });
}
