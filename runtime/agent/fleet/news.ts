/** What the agent knows of its hub's address, so that it asks once for each change that it hears of. */
import type { HubAddress } from '../../../api/fleet/hub-address.ts';
import { addressRevision } from '../../../api/fleet/hub-address.ts';

export class News {
  #told: string | undefined;
  #heard: string | undefined;

  /** What the answer to a heartbeat said. */
  told(address: HubAddress | undefined): void {
    this.#told = address === undefined ? undefined : addressRevision(address);
  }

  /** Whether a revision that was heard of is worth a question: true once for each that no heartbeat has told of. */
  heard(revision: string): boolean {
    if (revision === this.#told || revision === this.#heard) return false;
    this.#heard = revision;
    return true;
  }
}
