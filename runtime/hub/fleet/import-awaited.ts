/** Imports that wait for a token which they have made: they go on from there, and its event is no news to them. */
import { durations } from '../../../api/durations.ts';
import type { ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import type { HubContext } from './context.ts';
import type { Outside } from './slots.ts';

/** How one import waits. */
export interface TokenWait {
  readonly outside: Outside;
  readonly stopping: AbortSignal;
}

export interface AwaitedTokens {
  /**
   * The token with its values Secret; as it is after a while without one, and then its event will tell. Rejects with the
   * reason of `stopping`.
   */
  issued(token: ClusterRegistrationToken, wait: TokenWait): Promise<ClusterRegistrationToken>;
  /** Whether an import goes on with this token (`namespace/name`) by itself. */
  has(key: string): boolean;
  /** The import has ended, whether it came that far or not. */
  release(key: string): void;
}

export function createAwaitedTokens({ tokens }: Pick<HubContext, 'tokens'>): AwaitedTokens {
  const held = new Set<string>();
  const isIssued = ({ status }: ClusterRegistrationToken): boolean => Boolean(status?.secretName);
  return {
    async issued(token, { outside, stopping }) {
      if (isIssued(token)) return token;
      const key = keyOf(token);
      held.add(key);
      const found = await outside(async () => {
        const seen = await tokens.until(key, isIssued, durations.importTokenSoon, stopping);
        // before anything else happens: from here on its event counts
        if (seen === undefined) held.delete(key);
        return seen;
      });
      return found ?? tokens.get(key) ?? token;
    },
    has: (key) => held.has(key),
    release: (key) => void held.delete(key),
  };
}
