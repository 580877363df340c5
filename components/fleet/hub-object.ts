/** What the constructs of objects on a hub share: an explicit name, checked labels, references to existing ones. */
import { Construct } from 'constructs';
import type { IConstruct } from 'constructs';
import { apiVersion, defaults } from '../../api/fleet/constants.ts';
import { checkName } from '../../api/kubernetes/names.ts';
import { checkLabels } from '../../api/labels.ts';
import type { KubeObject } from '../../api/resource.ts';
import { addObject } from '../add-object.ts';
import { refuseSecretsInClear } from '../secrets/in-clear.ts';

/** Name and labels of an object on the hub. */
export interface HubObjectProps {
  /** Name of the object: always explicit, because agents, values and other objects refer to it. */
  readonly name: string;
  /** Workspace. Default: `fleet-default`. */
  readonly namespace?: string;
  /** Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: none. */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * Let the object hold a credential in clear (in environment, annotations, template values), for those who apply it
   * without committing it. Default: false; it is refused with SECRET_IN_CLEAR. The functions `synth…` do not look at it.
   */
  readonly allowSecrets?: boolean;
}

/** An object on the hub that others refer to: made here, or made elsewhere and named by `from…Name`. */
export interface IHubObject extends IConstruct {
  readonly name: string;
  /** Workspace. */
  readonly namespace: string;
}

/** Options of the `from…Name` factories. */
export interface ReferenceOptions {
  /** Workspace of the existing object. Default: `fleet-default`. */
  readonly namespace?: string;
}

/** One object of `fleet.cattle.io/v1alpha1`. */
export abstract class HubObject extends Construct implements IHubObject {
  readonly name: string;
  readonly namespace: string;

  protected constructor(scope: Construct, id: string, kind: string, props: HubObjectProps, spec: object) {
    super(scope, id);
    const { labels, annotations } = props;
    this.name = checkName(props.name, `${kind}.name`);
    this.namespace = checkName(props.namespace ?? defaults.defaultNamespace, `${kind}.namespace`);
    const object = addObject(this, 'object', {
      apiVersion,
      kind,
      metadata: {
        name: this.name,
        namespace: this.namespace,
        ...(labels === undefined ? {} : { labels: { ...checkLabels(labels, `${kind}.labels`) } }),
        ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      },
      spec,
    });
    if (!props.allowSecrets) refuseSecretsInClear([object.toJson() as KubeObject]);
  }
}

/** An object that exists already; nothing is synthesized for it. Throws INVALID_ARGUMENT for a name that is none. */
export abstract class ReferencedObject extends Construct implements IHubObject {
  readonly name: string;
  readonly namespace: string;

  protected constructor(scope: Construct, id: string, kind: string, name: string, options: ReferenceOptions) {
    super(scope, id);
    this.name = checkName(name, `${kind}.name`);
    this.namespace = checkName(options.namespace ?? defaults.defaultNamespace, `${kind}.namespace`);
  }
}
