/** What the components share: every manifest a resource below the component, in the order in which they need each other. */
import { ComponentResource, mergeOptions, RunError } from '@pulumi/pulumi';
import type { ComponentResourceOptions, CustomResourceOptions, Output } from '@pulumi/pulumi';
import { MusterError } from '../../api/errors.ts';
import { keyOf } from '../../api/resource.ts';
import type { KubeObject } from '../../api/resource.ts';
import { KubernetesObject } from './kubernetes-object.ts';
import type { OpenObject } from './open-args.ts';

/** Kinds by the stage in which they are made. Each stage needs the one before; what is in none of them comes last. */
const stages: readonly (readonly string[])[] = [
  ['CustomResourceDefinition'],
  ['Namespace'],
  // The fence stands before the rights that it limits.
  ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
  ['PriorityClass', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding', 'NetworkPolicy'],
  ['ConfigMap', 'Secret', 'PodDisruptionBudget'],
  ['Deployment'],
];

/** Deadlines of each object, as Go durations such as `10m`. */
export interface ReleaseTimeouts {
  readonly create?: string;
  readonly update?: string;
  readonly delete?: string;
}

/** How the objects of a component become resources. */
export interface ReleaseOptions {
  readonly timeouts: ReleaseTimeouts | undefined;
  /** Whether the Deployment is made only when its pods are ready. */
  readonly awaitReady: boolean;
  /** Whether an object stays in the cluster when its resource is removed. */
  readonly isKept: (object: OpenObject) => boolean;
}

/** Base of the components: type token `muster:kubernetes:KIND`. */
export abstract class ObjectsComponent extends ComponentResource {
  /** Every object, in the order in which they are applied. */
  readonly objects: readonly KubernetesObject[];
  /** The Deployment. With `awaitReady` it is made only when its pods are ready. */
  readonly deployment: KubernetesObject;

  protected constructor(
    kind: string,
    name: string,
    manifests: readonly OpenObject[],
    { timeouts, isKept, awaitReady }: ReleaseOptions,
    options: ComponentResourceOptions | undefined,
  ) {
    super(`muster:kubernetes:${kind}`, name, {}, options);
    requireProvider(this, `${kind} ${name}`);
    const shared: CustomResourceOptions = {
      parent: this,
      ...(timeouts === undefined ? {} : { customTimeouts: timeouts }),
    };
    // A component's own dependsOn does not reach its children by itself.
    let before: CustomResourceOptions = options?.dependsOn === undefined ? {} : { dependsOn: options.dependsOn };
    const made: KubernetesObject[] = [];
    for (const stage of byStage(awaitReady ? manifests : manifests.map(withoutWait))) {
      const ofStage = stage.map((object) => {
        const kept = isKept(object);
        const own = mergeOptions(kept ? { ...shared, retainOnDelete: true } : shared, before);
        return new KubernetesObject(`${name}:${keyOf(keyOfOpen(object))}`, kept ? takingOver(object) : object, own);
      });
      made.push(...ofStage);
      before = { dependsOn: ofStage };
    }
    this.objects = made;
    const last = made.at(-1);
    if (last === undefined) throw new MusterError('INTERNAL', 'has no objects', { where: `${kind} ${name}` });
    this.deployment = last;
  }

  /** Whether the Deployment's pods were ready when it was last looked at. */
  protected readiness(): Output<boolean> {
    return this.deployment.status.apply((status) => {
      const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status ?? {};
      return Number(observedGeneration) > 0 && updatedReplicas === replicas && availableReplicas === replicas;
    });
  }
}

const keyOfOpen = ({ name, namespace }: OpenObject): { name: string; namespace?: string } =>
  namespace === undefined ? { name } : { name, namespace };

function byStage(manifests: readonly OpenObject[]): OpenObject[][] {
  const rest = manifests.filter(({ kind }) => !stages.some((kinds) => kinds.includes(kind)));
  const ordered = stages.map((kinds) => manifests.filter(({ kind }) => kinds.includes(kind)));
  return [...ordered, rest].filter((stage) => stage.length > 0);
}

/** The provider itself waits for Deployments, and would fail without this where nobody reports on their pods. */
const withoutWait = (object: OpenObject): OpenObject =>
  object.kind === 'Deployment' ? annotated(object, 'pulumi.com/skipAwait') : object;

/** What is kept is found again later, with fields that an earlier release of this component has set: they are taken over. */
const takingOver = (object: OpenObject): OpenObject => annotated(object, 'pulumi.com/patchForce');

/** With one of the annotations by which the provider is told how to treat an object. */
function annotated(object: OpenObject, name: string): OpenObject {
  const metadata = object.fields['metadata'] as KubeObject['metadata'];
  const annotations = { ...metadata.annotations, [name]: 'true' };
  return { ...object, fields: { ...object.fields, metadata: { ...metadata, annotations } } };
}

/** Without one Pulumi would take the kubeconfig that the machine happens to have. */
function requireProvider(component: ComponentResource, where: string): void {
  if (component.getProvider('kubernetes:core/v1:Namespace') !== undefined) return;
  const error = new MusterError('INVALID_ARGUMENT', 'no provider says which cluster it is for', {
    where,
    hint: "Give the option provider: new k8s.Provider('NAME', { kubeconfig }) of @pulumi/kubernetes.",
  });
  throw new RunError(error.describe());
}
