/** Which request wins, and whether it may have what it asks for. Pure. */
import { reasons } from '../../api/conditions.ts';
import type { Decision, RegistrationRequest, RegistrationTarget } from './types.ts';

/**
 * Orders the requests of one identity: the newest is the one that a living agent waits for, all others are leftovers of
 * earlier ones. Creation times have whole seconds, so a tie goes to the request that was not granted yet (an agent that
 * asks again has lost what it was given), then to the larger sequence, then to the larger key: the same for every hub.
 */
export function pickNewest(requests: readonly RegistrationRequest[]): {
  newest: RegistrationRequest | undefined;
  superseded: RegistrationRequest[];
} {
  const [newest, ...superseded] = [...requests].sort(laterFirst);
  return { newest, superseded };
}

function laterFirst(a: RegistrationRequest, b: RegistrationRequest): number {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  if (a.granted !== b.granted) return a.granted ? 1 : -1;
  if (a.sequence !== b.sequence) return b.sequence - a.sequence;
  return a.key > b.key ? -1 : a.key < b.key ? 1 : 0;
}

/** What the hub knows when it decides. */
export interface DecisionInput {
  readonly request: RegistrationRequest;
  /** Clusters of the workspace with the request's identity. */
  readonly holders: readonly RegistrationTarget[];
  /** The cluster that has the name which a new one would get, whatever its identity. */
  readonly named: RegistrationTarget | undefined;
}

/**
 * Decides one request. An empty identity is refused, as it would match every cluster that has none yet. Two clusters
 * with one identity get nothing until a person has made clear which of them is meant; one that is being deleted is not
 * meant while another stands.
 */
export function decide({ request, holders, named }: DecisionInput): Decision {
  if (request.identity === '') {
    return refuse(reasons.invalidSpec, 'clientID is empty, so it cannot be told which cluster this is');
  }
  const standing = holders.filter((holder) => !holder.deleting);
  if (standing.length > 1) {
    const names = standing.map((holder) => holder.key).sort();
    return refuse(
      reasons.ambiguousIdentity,
      `the clusters ${names.join(', ')} have the same clientID; change all but one`,
    );
  }
  const target = standing[0] ?? holders[0] ?? named;
  if (target === undefined) return { outcome: 'create' };
  if (target.managedElsewhere) {
    return {
      outcome: 'skip',
      reason: reasons.managedElsewhere,
      message: `${target.key} is managed by another program`,
    };
  }
  if (target.identity !== request.identity) {
    return refuse(reasons.nameTaken, `${target.key} has the name that this cluster would get, and another clientID`);
  }
  if (target.deleting) {
    return { outcome: 'wait', reason: reasons.deleting, message: `waiting until ${target.key} is deleted` };
  }
  return checkTarget(request, target);
}

function checkTarget(request: RegistrationRequest, target: RegistrationTarget): Decision {
  if (target.locked && target.registered && !request.granted) {
    return refuse(reasons.locked, `${target.key} is registered and locked by its owner`);
  }
  const { via } = request;
  if (via !== undefined && via !== '' && target.onlyVia !== undefined && via !== target.onlyVia) {
    return refuse(
      reasons.wrongToken,
      `${target.key} can only be registered with the token ${target.onlyVia}, not with ${via}`,
    );
  }
  if (isContested(request, target)) {
    return {
      outcome: 'wait',
      reason: reasons.identityInUse,
      message:
        `${target.key} is registered and its agent reports; another agent with its clientID gets nothing until that one ` +
        'falls silent or the owner of the Cluster allows it',
    };
  }
  return { outcome: 'bind', target: target.key };
}

/**
 * A registration in use is not given away: clientIDs are no secret, and tokens leak. Where only one token counts, only
 * its holder can read the answer, so that one may always ask again.
 */
function isContested(request: RegistrationRequest, target: RegistrationTarget): boolean {
  if (request.granted || !target.registered || target.live !== true) return false;
  return target.takeover !== true && target.onlyVia === undefined;
}

function refuse(reason: string, message: string): Decision {
  return { outcome: 'reject', reason, message };
}
