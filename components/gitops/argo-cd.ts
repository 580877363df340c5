/**
 * Order for Argo CD. Within one wave it applies kinds in an order of its own; a wave begins when all of the one before are
 * healthy. So waves are needed only where that order is wrong, or where something has to run first; each one costs seconds.
 */
import { ApiObject } from 'cdk8s';
import type { IConstruct } from 'constructs';
import { group as fleetGroup } from '../../api/fleet/constants.ts';
import { group as musterGroup } from '../../api/muster/constants.ts';
import type { KubeObject } from '../../api/resource.ts';

/** Argo CD: annotations. */
export const argoCdAnnotations = {
  wave: 'argocd.argoproj.io/sync-wave',
  options: 'argocd.argoproj.io/sync-options',
} as const;

/** Smallest first. Everything else is in wave 0: the Deployment, for which all of the rest is there. */
const waves: Readonly<Record<string, number>> = {
  CustomResourceDefinition: -3,
  // Policies before the rights that they fence; namespaces before everything in them.
  Namespace: -2,
  PriorityClass: -2,
  ValidatingAdmissionPolicy: -2,
  ValidatingAdmissionPolicyBinding: -2,
  ServiceAccount: -1,
  ClusterRole: -1,
  ClusterRoleBinding: -1,
  Role: -1,
  RoleBinding: -1,
  NetworkPolicy: -1,
  ConfigMap: -1,
  Secret: -1,
  ExternalSecret: -1,
  SealedSecret: -1,
  PodDisruptionBudget: -1,
};

/** What a hub answers: after the hub. */
const declarationWave = 1;

/** Whether a hub answers it: a kind of the protocol, or one of muster's. */
function isDeclaration(apiVersion: string): boolean {
  return [fleetGroup, musterGroup].includes(apiVersion.split('/')[0] ?? '');
}

/** Annotations of one object; those that it has already go first. */
export function argoCdOrder({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Record<string, string> {
  const declaration = isDeclaration(apiVersion);
  const wave = declaration ? declarationWave : (waves[kind] ?? 0);
  const options = declaration
    ? // Its definition may come with another Application, so a dry run may not know the kind yet.
      'SkipDryRunOnMissingResource=true'
    : kind === 'CustomResourceDefinition'
      ? // By the server, because schemas outgrow the annotation of a client-side apply. Never removed by a sync: every
        // registration would go, too.
        'Delete=false,Prune=false,ServerSideApply=true'
      : undefined;
  return {
    ...(options === undefined ? {} : { [argoCdAnnotations.options]: options }),
    ...(wave === 0 ? {} : { [argoCdAnnotations.wave]: String(wave) }),
  };
}

/** The objects with their waves; annotations that an object has already stay. */
export function orderedForArgoCd<T extends KubeObject>(objects: readonly T[]): T[] {
  return objects.map((object) => {
    const annotations = { ...argoCdOrder(object), ...object.metadata.annotations };
    if (Object.keys(annotations).length === 0) return object;
    return { ...object, metadata: { ...object.metadata, annotations: sorted(annotations) } };
  });
}

/** The same for every object below `scope`: an App, a Chart or any construct. Call it when all of them are there. */
export function orderForArgoCd(scope: IConstruct): void {
  for (const construct of scope.node.findAll()) {
    if (!ApiObject.isApiObject(construct)) continue;
    const object = construct as ApiObject;
    const present = (object.toJson() as KubeObject).metadata.annotations ?? {};
    for (const [key, value] of Object.entries(argoCdOrder(object)))
      if (!(key in present)) object.metadata.addAnnotation(key, value);
  }
}

function sorted(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
