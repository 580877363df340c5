/**
 * Where a Cluster was published to Argo CD, and with what: read from condition ArgoCDPublished, so that it survives the
 * hub, which may not read Secrets of Argo CD (decision 10). Pure.
 */
import { conditionTypes, findCondition } from '../../../api/conditions.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { formatTime } from '../../../api/time.ts';

export interface ArgoCDRecord {
  /** The Secret. Known before it is written, so that none is forgotten. */
  readonly namespace: string;
  readonly name: string;
  /** What it holds; absent while it is not known to be there. */
  readonly content?: {
    /** Digest of all that it was made from. */
    readonly revision: string;
    /** When its token is to be renewed, in milliseconds since 1970, whole seconds. */
    readonly renewMs: number;
  };
}

const pattern = /\(Secret ([a-z0-9.-]+)\/([a-z0-9.-]+)(?:, revision ([0-9a-f]{12}), to be renewed at ([0-9TZ:-]+))?\)$/;

/** `message` with the record at its end. */
export function withRecord(message: string, record: ArgoCDRecord | undefined): string {
  if (record === undefined) return message;
  const { namespace, name, content } = record;
  const time = content && formatTime(content.renewMs);
  const more = content === undefined ? '' : `, revision ${content.revision}, to be renewed at ${time ?? ''}`;
  return `${message} (Secret ${namespace}/${name}${more})`;
}

/** `undefined` when nothing was published. */
export function recordOf(cluster: Cluster): ArgoCDRecord | undefined {
  const conditions = cluster.status?.conditions;
  const match = pattern.exec(findCondition(conditions, conditionTypes.argoCDPublished)?.message ?? '');
  if (match === null) return undefined;
  const [, namespace = '', name = '', revision, time = ''] = match;
  const renewMs = Date.parse(time);
  return {
    namespace,
    name,
    ...(revision === undefined || !Number.isFinite(renewMs) ? {} : { content: { revision, renewMs } }),
  };
}
