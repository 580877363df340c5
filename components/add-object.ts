/** One object of the Kubernetes API in a chart. */
import { ApiObject, Chart, JsonPatch } from 'cdk8s';
import type { ApiObjectProps } from 'cdk8s';
import type { Construct } from 'constructs';

/** An object as the API server takes it: `apiVersion`, `kind`, `metadata` and whatever else its kind has. */
export interface ObjectProps extends ApiObjectProps {
  readonly [field: string]: unknown;
}

/**
 * Adds it. An object that names no namespace is cluster-scoped and stays so: cdk8s would write the namespace of the
 * user's chart on it, which API servers ignore at best and tools such as Argo CD take for a difference for ever.
 */
export function addObject(scope: Construct, id: string, props: ObjectProps): ApiObject {
  const object = new ApiObject(scope, id, props);
  if (props.metadata?.namespace === undefined && Chart.of(object).namespace !== undefined)
    object.addJsonPatch(JsonPatch.remove('/metadata/namespace'));
  return object;
}
