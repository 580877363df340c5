/** Clusters of Fleet that rules made: what they say about themselves. Pure. */
import { conditionTypes, findCondition, isTrue, reasons } from '../../../api/conditions.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { annotations } from '../../../api/muster/constants.ts';
import { keyOf } from '../../../api/resource.ts';
import type { Registered } from './registrar.ts';
import { parseLoss } from './registration.ts';
import type { Fault } from './source.ts';

/** Key of the source that the Cluster was made for; `undefined` when no rule made it. */
export function sourceOf({ metadata }: Cluster): string | undefined {
  return metadata.annotations?.[annotations.source] || undefined;
}

export function toRegistered(cluster: Cluster): Registered | undefined {
  const source = sourceOf(cluster);
  if (source === undefined) return undefined;
  const notes = cluster.metadata.annotations ?? {};
  const lostAtMs = Date.parse(notes[annotations.sourceLost] ?? '');
  return {
    key: keyOf(cluster),
    rule: notes[annotations.rule] ?? '',
    source,
    uid: notes[annotations.sourceUid] ?? '',
    loss: parseLoss(notes[annotations.onSourceDeleted]),
    ...(Number.isNaN(lostAtMs) ? {} : { lostAtMs }),
    paused: notes[annotations.sourcePaused] === 'true',
    ...stageOf(cluster),
  };
}

/** Conditions that can be what a registration waits for or fails at, in the order of its stages. */
const stages = [conditionTypes.processed, conditionTypes.imported, conditionTypes.registered];
/** Reasons of a stage that goes on by itself. */
const passing: readonly (string | undefined)[] = [
  reasons.pending,
  reasons.waitingForAgent,
  reasons.waitingForToken,
  reasons.waitingForNamespace,
  reasons.waitingForHeartbeat,
];

function stageOf({ metadata, status }: Cluster): Pick<Registered, 'stage' | 'cleared' | 'fault'> {
  const conditions = status?.conditions;
  if (metadata.deletionTimestamp !== undefined) {
    const cleared = findCondition(conditions, conditionTypes.detached)?.reason === reasons.downstreamCleared;
    return { stage: 'detaching', ...(cleared ? { cleared } : {}) };
  }
  if (isTrue(conditions, conditionTypes.registered)) return { stage: 'registered' };
  const unmet = stages.map((type) => findCondition(conditions, type)).filter((one) => one?.status === 'False');
  const failed = unmet.find((condition) => !passing.includes(condition?.reason));
  const told = failed ?? unmet.at(-1);
  const fault: Fault | undefined =
    told === undefined ? undefined : { reason: told.reason ?? reasons.pending, message: told.message ?? '' };
  return { stage: failed === undefined ? 'pending' : 'failed', ...(fault === undefined ? {} : { fault }) };
}
