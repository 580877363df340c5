/** Whom the agent trusts as its hub: the three meanings of `agentTLSMode`. */
import { isMusterError } from '../../../api/errors.ts';
import { systemRoots } from '../../kube/system-roots.ts';
import { AgentError } from './failure.ts';

export { systemRoots } from '../../kube/system-roots.ts';

/** What the edge's configuration and bootstrap Secret say about trust. */
export interface TrustInput {
  /** Address of the hub. */
  readonly server: string;
  /** PEM; empty when none was given. */
  readonly ca: string;
  /** `strict`, `system-store`, or empty when nothing was configured. Anything else counts as `strict`, as in Fleet. */
  readonly mode: string;
}

/** Calls the server with the given trusted roots (PEM); rejects with TLS_UNTRUSTED when they do not vouch for it. */
export type Probe = (server: string, roots: string) => Promise<void>;

/**
 * The CA that goes into the stored kubeconfig, or `undefined` to trust the operating system's roots.
 *
 * - `system-store`: the roots are tried first; if they vouch for the server, the given CA is left out, so that a later
 *   change of a publicly trusted certificate needs no new registration. Otherwise the CA is used.
 * - `strict`: the CA and nothing else; without one registration is impossible.
 * - not configured: the CA if there is one, else the roots.
 *
 * @throws AgentError HubUntrusted, ConfigInvalid; errors of `probe` that are not about trust.
 */
export async function decideTrust(input: TrustInput, probe: Probe): Promise<string | undefined> {
  const given = input.ca.trim() === '' ? undefined : input.ca;
  if (input.mode === '') return given;
  if (input.mode !== 'system-store') {
    if (given !== undefined) return given;
    throw new AgentError('ConfigInvalid', 'TLS_UNTRUSTED', 'agentTLSMode strict needs the CA of the hub', {
      where: 'Secret fleet-agent-bootstrap, apiServerCA',
      hint: 'Give apiServerCA, or set agentTLSMode to system-store if the hub has a publicly trusted certificate.',
    });
  }
  try {
    await probe(input.server, systemRoots());
    return undefined;
  } catch (error) {
    if (isMusterError(error, 'TLS_UNTRUSTED') && given !== undefined) return given;
    throw error;
  }
}
