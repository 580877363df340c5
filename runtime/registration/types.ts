/**
 * The words of a registration, for every protocol: a cluster sends a request with an identity; the hub decides; a
 * grant gives rights and then a credential; heartbeats keep it alive; detaching takes everything back.
 */
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts';

/** One request as the engine sees it. Protocols map their own kind onto it. */
export interface RegistrationRequest {
  /** `namespace/name` of the object that carries it. */
  readonly key: string;
  /** Who the cluster says it is, unique within its workspace. May be empty; then it is refused. */
  readonly identity: string;
  /** RFC 3339, whole seconds, set by the API server. */
  readonly createdAt: string;
  /** Tie-break between requests of one second: larger is later. */
  readonly sequence: number;
  readonly granted: boolean;
  /** Name of the bootstrap credential it was made with; `undefined` when the request does not tell. */
  readonly via: string | undefined;
}

/** A cluster that the hub knows, as far as deciding needs it. */
export interface RegistrationTarget {
  /** `namespace/name`. */
  readonly key: string;
  /** Empty while it has none. */
  readonly identity: string;
  /** Another program looks after it. */
  readonly managedElsewhere: boolean;
  readonly deleting: boolean;
  /** Its owner allows no further registration. */
  readonly locked: boolean;
  /** Its registration is in use: its agent reports. Nobody else gets it until that ends. Default: false. */
  readonly live?: boolean;
  /** Its owner lets another agent take over even so. Default: false. */
  readonly takeover?: boolean;
  /** A request was granted for it. */
  readonly registered: boolean;
  /** The only bootstrap credential that may register it; any when absent. */
  readonly onlyVia?: string | undefined;
}

/** What to do with a request. `reason` is one of api/conditions.ts. */
export type Decision =
  | { readonly outcome: 'bind'; readonly target: string }
  | { readonly outcome: 'create' }
  | { readonly outcome: 'reject' | 'wait' | 'skip'; readonly reason: string; readonly message: string };

/** One object of a grant. */
export interface GrantObject<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>;
  readonly object: T;
}

/** One right that must be effective before the credential that needs it is published. */
export interface AccessCheck {
  /** `system:serviceaccount:…` */
  readonly user: string;
  readonly groups: readonly string[];
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** A ServiceAccount by namespace and name. */
export type ServiceAccountKey = Required<ObjectKey>;
