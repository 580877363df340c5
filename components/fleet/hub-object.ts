/** What the constructs of objects on a hub share: an explicit name, checked labels. */
import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { apiVersion, defaults } from '../../api/fleet/constants.ts';
import { checkName } from '../../api/kubernetes/names.ts';
import { checkLabels } from '../../api/labels.ts';

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
}

/** One object of `fleet.cattle.io/v1alpha1`. */
export abstract class HubObject extends Construct {
  readonly name: string;
  readonly namespace: string;

  protected constructor(scope: Construct, id: string, kind: string, props: HubObjectProps, spec: object) {
    super(scope, id);
    const { labels, annotations } = props;
    this.name = checkName(props.name, `${kind}.name`);
    this.namespace = checkName(props.namespace ?? defaults.defaultNamespace, `${kind}.namespace`);
    new ApiObject(this, 'object', {
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
  }
}

/** Without the members that are undefined: what is not given stays the hub's or anybody else's. */
export function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
