/** Waiting until a CustomResourceDefinition is gone, with help where an API server forgets it. */
import { annotations } from '../api/fleet/constants.ts';
import { durations } from '../api/durations.ts';
import type { CustomResourceDefinition } from '../api/kubernetes/workloads.ts';
import { CustomResourceDefinitions } from '../api/kubernetes/workloads.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { awaitGone } from './await-gone.ts';
import { fieldManager } from './fleet-object.ts';
import type { CallContext } from './handler.ts';

/**
 * As {@link awaitGone}. An API server (seen: 1.36) that could not list the objects of a kind, because nobody had asked
 * for them before, tries once more with an old version of the definition, takes the conflict for news to come, and
 * ignores that news, because only the condition has changed: it goes on at its next resync, five minutes later. Any
 * other change of the definition makes it try at once.
 * @throws MusterError TIMEOUT naming the finalizers that hold it.
 */
export async function awaitDefinitionGone(
  client: KubeClient,
  name: string,
  context: Pick<CallContext, 'signal'>,
): Promise<void> {
  let last: CustomResourceDefinition | undefined;
  let times = 0;
  const remind = (): void => {
    if (last === undefined || !isForgotten(last)) return;
    const { uid } = last.metadata;
    const patch = { metadata: { uid, annotations: { [annotations.removalReminder]: String(++times) } } };
    const options = { type: 'merge', fieldManager, signal: context.signal } as const;
    // gone, or not to be had: the wait sees the same
    client.patch(CustomResourceDefinitions, { name }, patch, options).catch(() => undefined);
  };
  const reminder = setInterval(remind, durations.providerReminder);
  try {
    await awaitGone(client, CustomResourceDefinitions, { name }, undefined, context, {
      onChange: (definition) => (last = definition),
    });
  } finally {
    clearInterval(reminder);
  }
}

/** Its removal failed, and nothing says that it is being tried again. */
function isForgotten({ metadata, status }: CustomResourceDefinition): boolean {
  const terminating = status?.conditions?.find(({ type }) => type === 'Terminating');
  return metadata.deletionTimestamp !== undefined && /Failed|Check/.test(terminating?.reason ?? '');
}
