/** The same question for constructs. */
import { ApiObject } from 'cdk8s';
import type { IConstruct } from 'constructs';
import type { KubeObject } from '../../api/resource.ts';
import { refuseSecretsInClear } from './in-clear.ts';

/**
 * Throws SECRET_IN_CLEAR when an object below `scope` (an App, Chart or any construct) holds a credential in clear. The
 * constructs of this package call it for themselves; call it for the App of a program, last, to cover all of its objects.
 */
export function refuseSecretsInClearBelow(scope: IConstruct): void {
  const objects = scope.node.findAll().filter((construct) => ApiObject.isApiObject(construct));
  refuseSecretsInClear(objects.map((object) => (object as ApiObject).toJson() as KubeObject));
}
