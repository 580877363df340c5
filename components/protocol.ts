/** Which registration protocol a construct speaks. */
import { MusterError } from '../api/errors.ts';

/** Protocols that muster speaks; there is one so far. */
export const protocols = ['fleet'] as const;

export type Protocol = (typeof protocols)[number];

/** What constructs of more than one protocol take. */
export interface ProtocolProps {
  /** Registration protocol of hub and agents. Default: `fleet`, the one of Rancher Fleet. Others: UNSUPPORTED. */
  readonly protocol?: Protocol;
}

/** Throws UNSUPPORTED for a protocol that this version does not speak; programs in JavaScript may name any. */
export function checkProtocol(protocol: string | undefined, where: string): Protocol {
  const found = protocols.find((known) => known === (protocol ?? 'fleet'));
  if (found === undefined)
    throw new MusterError('UNSUPPORTED', `protocol ${JSON.stringify(protocol)} is not known to this version`, {
      where,
      hint: `Give one of ${protocols.join(', ')}, or nothing.`,
    });
  return found;
}
