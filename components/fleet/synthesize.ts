/** From a chart to plain objects: checked, in the order in which to apply them, the same bytes for the same input. */
import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { MusterError } from '../../api/errors.ts';
import { keyOf } from '../../api/resource.ts';
import type { KubeObject } from '../../api/resource.ts';
import { placeOf, resourceTypeOf } from './kinds.ts';

/** A chart around one construct. */
class ChartOf extends Chart {
  constructor(app: App, add: (chart: Chart) => Construct) {
    super(app, 'chart');
    add(this);
  }
}

/** Builds one chart in an app of its own and returns its objects. Cheap enough to call once per cluster. */
export function synthesize(build: (app: App) => Chart): KubeObject[] {
  const objects = build(new App()).toJson() as KubeObject[];
  objects.forEach(check);
  return objects.sort(compare);
}

/** The objects of one construct. */
export function synthesizeOne(add: (chart: Chart) => Construct): KubeObject[] {
  return synthesize((app) => new ChartOf(app, add));
}

/** A fault here is ours, not the caller's: cdk8s would write a chart's namespace on cluster-scoped objects, too. */
function check(object: KubeObject): void {
  const { namespaced } = resourceTypeOf(object);
  const { name, namespace } = object.metadata;
  const fault = !name
    ? 'has no name'
    : namespaced && !namespace
      ? 'has no namespace'
      : !namespaced && namespace !== undefined
        ? 'is cluster-scoped and has a namespace'
        : undefined;
  if (fault !== undefined)
    throw new MusterError('INTERNAL', `a manifest ${fault}`, { where: `${object.kind} ${keyOf(object)}` });
}

/**
 * Kubernetes makes this account a moment after the namespace. Whoever applies without the server's help would look for it
 * before, and then try to create what is there by then.
 */
function isMadeByOthers({ kind, metadata }: KubeObject): boolean {
  return kind === 'ServiceAccount' && metadata.name === 'default';
}

function compare(a: KubeObject, b: KubeObject): number {
  if (isMadeByOthers(a) !== isMadeByOthers(b)) return isMadeByOthers(a) ? 1 : -1;
  const places = placeOf(a) - placeOf(b);
  if (places !== 0) return places;
  return keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0;
}
