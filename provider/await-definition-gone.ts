/** Waiting until a CustomResourceDefinition is gone, with help where an API server forgets it. */
import { setTimeout as delay } from 'node:timers/promises';
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
  const end = new AbortController();
  const reminding = remind(client, name, AbortSignal.any([context.signal, end.signal]));
  try {
    await awaitGone(client, CustomResourceDefinitions, { name }, undefined, context);
  } finally {
    end.abort();
    await reminding;
  }
}

/** Resolves with its signal, or when the definition is gone; what fails here is told by the wait itself. */
async function remind(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  try {
    for (let times = 1; ; times += 1) {
      await delay(durations.providerReminder, undefined, { signal });
      const found = await client.find(CustomResourceDefinitions, { name }, { signal });
      if (found === undefined) return;
      if (!isForgotten(found)) continue;
      const patch = { metadata: { annotations: { [annotations.removalReminder]: String(times) } } };
      await client.patch(CustomResourceDefinitions, { name }, patch, { type: 'merge', fieldManager, signal });
    }
  } catch {
    // gone, or not to be had: awaitGone sees the same
  }
}

/** Its removal failed, and nothing says that it is being tried again. */
function isForgotten({ metadata, status }: CustomResourceDefinition): boolean {
  const terminating = status?.conditions?.find(({ type }) => type === 'Terminating');
  return metadata.deletionTimestamp !== undefined && /Failed|Check/.test(terminating?.reason ?? '');
}
