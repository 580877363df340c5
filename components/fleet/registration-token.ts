/** Construct of a ClusterRegistrationToken. */
import type { Construct } from 'constructs';
import { clusterRegistrationTokenSpec } from '../../api/fleet/cluster-registration-token.ts';
import { annotations } from '../../api/fleet/constants.ts';
import { given } from '../../api/given.ts';
import type { KubeObject } from '../../api/resource.ts';
import { validate } from '../../api/validate.ts';
import { synthesizeOne } from './synthesize.ts';
import { checkProtocol } from '../protocol.ts';
import type { ProtocolProps } from '../protocol.ts';
import { HubObject, ReferencedObject } from './hub-object.ts';
import type { HubObjectProps, IHubObject, ReferenceOptions } from './hub-object.ts';

/** Props of {@link RegistrationToken}. */
export interface RegistrationTokenProps extends HubObjectProps, ProtocolProps {
  /** Life from its creation, a Go duration such as `12h`; the hub deletes it then. Default: it never expires. */
  readonly ttl?: string;
  /** It registers one cluster and ends with that one's first heartbeat; muster's hub only. Default: false. */
  readonly oneUse?: boolean;
}

/** A registration token made here or elsewhere. */
export interface IRegistrationToken extends IHubObject {
  /** Secret of the token's namespace whose key `values` holds what an agent registers with. */
  readonly secretName: string;
}

/**
 * Permission for agents to register with the hub. No credential is in the manifest: the hub makes one and publishes it
 * in a Secret. Throws INVALID_ARGUMENT.
 */
export class RegistrationToken extends HubObject implements IRegistrationToken {
  /** A token that exists already. Throws INVALID_ARGUMENT. */
  static fromRegistrationTokenName(
    scope: Construct,
    id: string,
    name: string,
    options: ReferenceOptions = {},
  ): IRegistrationToken {
    return new ReferencedToken(scope, id, name, options);
  }

  readonly secretName: string;

  constructor(scope: Construct, id: string, props: RegistrationTokenProps) {
    checkProtocol(props.protocol, 'RegistrationToken.protocol');
    const spec = given({ ttl: props.ttl });
    validate(clusterRegistrationTokenSpec, spec, 'RegistrationToken');
    const marks: Record<string, string> = props.oneUse ? { [annotations.oneUse]: 'true' } : {};
    const all = { ...props.annotations, ...marks };
    const marked = Object.keys(all).length === 0 ? props : { ...props, annotations: all };
    super(scope, id, 'ClusterRegistrationToken', marked, spec);
    this.secretName = props.name;
  }
}

class ReferencedToken extends ReferencedObject implements IRegistrationToken {
  readonly secretName: string;

  constructor(scope: Construct, id: string, name: string, options: ReferenceOptions) {
    super(scope, id, 'ClusterRegistrationToken', name, options);
    this.secretName = this.name;
  }
}

/** The token as an object. Throws INVALID_ARGUMENT. */
export function synthRegistrationToken(props: RegistrationTokenProps): KubeObject[] {
  return synthesizeOne((chart) => new RegistrationToken(chart, 'token', { ...props, allowSecrets: true }));
}
