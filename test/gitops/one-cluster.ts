/** An example repository whose hub and store are one cluster: the store's agent lives in a namespace of its own there. */
import { writeFileSync } from 'node:fs';
import { isTrue } from '../../api/conditions.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { ControlPlane } from '../harness/index.ts';
import { poll } from '../harness/index.ts';
import { fetchSecrets, installExternalSecrets } from './external-secrets.ts';
import { addSettings, onThisMachine } from './machine.ts';
import type { Repository } from './repository.ts';
import { createRepository, readmeOf } from './repository.ts';
import { shellBlocks } from './shell.ts';
import { openShell } from './stage.ts';

export const workspace = 'fleet-default';
const storeNamespace = 'store-17-system';

/** The repository with its manifests written, for that cluster, which has External Secrets. */
export async function openExample(example: string, plane: ControlPlane, admin: KubeClient): Promise<Repository> {
  const { env } = await openShell({ hub: plane });
  const repository = await createRepository({ ...env, HUB_URL: plane.server }, { name: example });
  const pulled = { imagePullPolicy: 'Never' };
  addSettings(repository.path('settings/hub.yaml'), { ...pulled, ...onThisMachine('hub', plane.server) });
  addSettings(repository.path('settings/agent.yaml'), {
    ...pulled,
    ...onThisMachine('agent', plane.server, 1000),
    namespace: storeNamespace,
  });
  writeFileSync(repository.path('settings/hub-ca.pem'), plane.ca);
  await installExternalSecrets(admin);
  const [write = ''] = shellBlocks(readmeOf(example));
  await repository.run(write);
  return repository;
}

/** External Secrets and its PushSecret: the values of the token go to the store and come to the agent, which registers. */
export async function storeIsReady(admin: KubeClient): Promise<void> {
  const values = await poll(
    async () => (await admin.find(Secrets, { namespace: workspace, name: 'stores' }))?.data?.['values'],
    { what: 'the values of the token' },
  );
  await fetchSecrets(admin, storeNamespace, { 'fleet/stores/values': Buffer.from(values, 'base64').toString() });
  const ready = async (): Promise<true | undefined> => {
    const { status } = await admin.get(Clusters, { namespace: workspace, name: 'store-17' });
    return isTrue(status?.conditions, 'Ready') ? true : undefined;
  };
  await poll(ready, { what: 'store-17 to be Ready' });
}
