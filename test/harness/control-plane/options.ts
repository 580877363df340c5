/** What a control plane is started with. */
import type { IsolatedNetwork } from '../network/isolated-network.ts';
import type { Authority } from '../pki/authority.ts';
import type { Claim } from '../run/claims.ts';

/** Options of {@link ControlPlane.start}. */
export interface ControlPlaneOptions {
  /** For folders and messages. Default: `plane`. */
  readonly name?: string;
  /** Where its data and logs go. Default: a folder that vanishes with the run. A given folder is kept, and reused. */
  readonly dir?: string;
  /** Added to the apiserver's own; later ones win. */
  readonly apiServerArgs?: readonly string[];
  readonly controllerManagerArgs?: readonly string[];
  /** Default: true. Without it nothing fills token Secrets, deletes namespaces, collects owners or makes Pods. */
  readonly controllerManager?: boolean;
  /** Default: false. Only needed by pods that name no node. */
  readonly scheduler?: boolean;
  /** Port of the apiserver, released when the plane is closed. Default: any free one. */
  readonly port?: Claim<number>;
  /** More names and addresses that its certificate covers. Default: those of loopback and of the Service `kubernetes`. */
  readonly hosts?: readonly string[];
  /** Who will sign its serving certificate after {@link ControlPlane.changeAuthority}; trusted beside its own from the start. */
  readonly successor?: Authority;
  /** Runs on this network instead of the machine's; its ports on 127.0.0.1 lead there all the same. */
  readonly network?: IsolatedNetwork;
}
