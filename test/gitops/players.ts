/**
 * Argo CD and Flux as far as order is concerned: what they apply together, and what they wait for in between. Neither
 * tries again here: an order that is right has no failure.
 */
import { findCondition } from '../../api/conditions.ts';
import type { Condition } from '../../api/conditions.ts';
import { keyOf } from '../../api/resource.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { manifestKinds } from '../../components/fleet/index.ts';
import { RegistrationRules } from '../../api/muster/kinds.ts';
import { GitRepos } from '../../api/fleet/kinds.ts';
import { ExternalSecrets } from '../../components/secrets/kinds.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { poll } from '../harness/index.ts';

const waveAnnotation = 'argocd.argoproj.io/sync-wave';
const kinds: readonly ResourceType[] = [...manifestKinds, GitRepos, RegistrationRules, ExternalSecrets];

function typeOf({ kind }: KubeObject): ResourceType {
  const found = kinds.find((type) => type.kind === kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return found;
}

/** Applies objects of one step in the order given, and resolves when those of the kinds in `waitFor` are healthy. */
async function step(client: KubeClient, objects: readonly KubeObject[], waitFor: readonly string[]): Promise<void> {
  for (const object of objects) {
    await client.apply(typeOf(object), object, { fieldManager: 'gitops' }).catch((cause: unknown) => {
      throw new Error(`${object.kind} ${keyOf(object)} came too early`, { cause });
    });
  }
  for (const object of objects.filter(({ kind }) => waitFor.includes(kind))) {
    const { name = '', namespace } = object.metadata;
    const key = namespace === undefined ? { name } : { namespace, name };
    await poll(async () => (isHealthy(await client.get(typeOf(object), key)) ? true : undefined), {
      what: `${object.kind} ${name} to be healthy`,
    });
  }
}

/** Kinds that say whether they are healthy; others are when they are there. */
const telling = ['CustomResourceDefinition', 'Deployment'];

function isHealthy(object: KubeObject): boolean {
  const { spec, status } = object as KubeObject & {
    spec?: { replicas?: number };
    status?: { conditions?: Condition[]; availableReplicas?: number };
  };
  if (object.kind === 'Deployment') return status?.availableReplicas === spec?.replicas;
  return findCondition(status?.conditions, 'Established')?.status === 'True';
}

/** Argo CD: sync phases and waves. Within a wave namespaces come first, then kinds of Kubernetes, then custom ones. */
export async function syncAsArgoCd(client: KubeClient, objects: readonly KubeObject[]): Promise<number[]> {
  const waveOf = (object: KubeObject): number => Number(object.metadata.annotations?.[waveAnnotation] ?? 0);
  const waves = [...new Set(objects.map(waveOf))].sort((a, b) => a - b);
  for (const wave of waves) {
    const members = objects.filter((object) => waveOf(object) === wave);
    await step(client, members.toSorted(byArgoCdKind), telling);
  }
  return waves;
}

/** Argo CD: order of kinds (gitops-engine, sync tasks). */
const argoCdKinds = [
  'Namespace',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Deployment',
];

function byArgoCdKind(a: KubeObject, b: KubeObject): number {
  const place = ({ kind }: KubeObject): number => {
    const index = argoCdKinds.indexOf(kind);
    return index < 0 ? argoCdKinds.length : index;
  };
  return place(a) - place(b) || keyOf(a).localeCompare(keyOf(b));
}

const definitionKinds = ['CustomResourceDefinition'];

/** What of a Kustomization of Flux decides the order. */
export interface FluxKustomization extends KubeObject {
  readonly spec: {
    readonly path: string;
    readonly dependsOn?: readonly { readonly name: string }[];
  };
}

/**
 * Flux: Kustomizations in the order of `dependsOn`; inside of one, definitions and namespaces first. It does not wait for
 * workloads, so that an API server alone will do.
 */
export async function reconcileAsFlux(
  client: KubeClient,
  kustomizations: readonly FluxKustomization[],
  objectsOf: (path: string) => Promise<readonly KubeObject[]>,
): Promise<string[]> {
  const done: string[] = [];
  let left = [...kustomizations];
  while (left.length > 0) {
    const ready = left.filter(({ spec }) => (spec.dependsOn ?? []).every(({ name }) => done.includes(name)));
    if (ready.length === 0) throw new Error(`nothing may start: ${left.map(keyOf).join(', ')}`);
    for (const { metadata, spec } of ready) {
      const objects = await objectsOf(spec.path);
      const definitions = objects.filter(({ kind }) => [...definitionKinds, 'Namespace'].includes(kind));
      const rest = objects.filter((object) => !definitions.includes(object));
      await step(client, definitions, definitionKinds);
      await step(client, rest, []);
      done.push(metadata.name ?? '');
    }
    left = left.filter((each) => !ready.includes(each));
  }
  return done;
}
