/** Waiting until the API serves the kinds that a release has defined. */
import { MusterError } from '../../api/errors.ts';
import { CustomResourceDefinitions } from '../../api/kubernetes/workloads.ts';
import type { CustomResourceDefinition } from '../../api/kubernetes/workloads.ts';
import type { KubeObject } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { awaitObject } from '../await-object.ts';
import type { CallContext } from '../handler.ts';

/** @throws MusterError ALREADY_OWNED when another definition has the names; TIMEOUT. */
export async function awaitDefinitions(
  client: KubeClient,
  definitions: readonly KubeObject[],
  { signal }: Pick<CallContext, 'signal'>,
): Promise<void> {
  await Promise.all(
    definitions.map(async ({ metadata: { name = '' } }) => {
      const settled = (found: CustomResourceDefinition | undefined): boolean =>
        status(found, 'Established') === 'True' || status(found, 'NamesAccepted') === 'False';
      const found = await awaitObject(client, CustomResourceDefinitions, { name }, settled, { signal });
      if (status(found, 'NamesAccepted') !== 'False') return;
      throw new MusterError('ALREADY_OWNED', messageOf(found), {
        where: `CustomResourceDefinition ${name}`,
        hint: 'Remove the definition that has these names.',
      });
    }),
  );
}

function status(found: CustomResourceDefinition | undefined, type: string): string | undefined {
  return found?.status?.conditions?.find((condition) => condition.type === type)?.status;
}

function messageOf(found: CustomResourceDefinition | undefined): string {
  const condition = found?.status?.conditions?.find(({ type }) => type === 'NamesAccepted');
  return condition?.message ?? 'its names are taken';
}
