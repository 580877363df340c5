import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CustomResourceDefinition } from '../api/kubernetes/workloads.ts';
import { CustomResourceDefinitions } from '../api/kubernetes/workloads.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { ControlPlane, poll } from '../test/harness/index.ts';
import { awaitDefinitionGone } from './await-definition-gone.ts';
import { awaitDefinitions } from './handlers/hub-definitions.ts';

let plane: ControlPlane;
let client: KubeClient;
beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'definitions', controllerManager: false });
  client = plane.client();
});
afterAll(async () => {
  await client?.close();
  await plane?.close();
});

function definition(kind: string): CustomResourceDefinition {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.unused.test` },
    spec: {
      group: 'unused.test',
      scope: 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

test('given a definition that its API server failed to remove, when it is left at that, then it is reminded until it goes', async () => {
  const one = definition('Thing');
  const name = one.metadata.name ?? '';
  const held = { ...one, metadata: { ...one.metadata, finalizers: ['muster.dev/test'] } };
  const context = { signal: AbortSignal.timeout(20_000) };
  await client.create(CustomResourceDefinitions, held);
  await awaitDefinitions(client, [held], context);
  await client.delete(CustomResourceDefinitions, { name });
  const now = () => client.get(CustomResourceDefinitions, { name });
  await poll(async () => ((await now()).metadata.finalizers?.length === 1 ? true : undefined), { what: 'our turn' });

  const waiting = awaitDefinitionGone(client, name, context);
  await poll(now, { what: 'the wait to begin' });
  expect((await now()).metadata.annotations).toBeUndefined();
  const failed = { type: 'Terminating', status: 'True', reason: 'InstanceDeletionFailed', message: 'storage' };
  const status = { status: { conditions: [{ ...failed, lastTransitionTime: new Date().toISOString() }] } };
  await client.patch(CustomResourceDefinitions, { name }, status, { type: 'merge', subresource: 'status' });
  const reminders = async () => Number((await now()).metadata.annotations?.['muster.dev/removal-reminder']);
  await poll(async () => ((await reminders()) > 1 ? true : undefined), { what: 'two reminders' });
  await client.patch(CustomResourceDefinitions, { name }, { metadata: { finalizers: null } }, { type: 'merge' });
  await waiting;
  expect(await client.find(CustomResourceDefinitions, { name })).toBeUndefined();
});
