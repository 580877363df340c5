/** Outputs of `AgentRelease`: from its inputs, and what stands in the cluster. */
import { defaults } from '../../api/fleet/constants.ts';
import { toYaml } from '../../components/yaml.ts';
import type { Target } from '../clients.ts';
import type { CallContext } from '../handler.ts';
import { inOrder, manifestHash, nameOf, stamped } from '../release-objects.ts';
import type { ObjectName } from '../release-objects.ts';
import type { AgentInputs } from './agent-inputs.ts';
import { agentManifests } from './agent-manifests.ts';

export interface AgentOutputs extends AgentInputs {
  /** Namespace of the agent. */
  readonly namespace: string;
  readonly clusterUID: string;
  readonly ready: boolean;
  readonly objects: readonly ObjectName[];
  readonly manifestHash: string;
  /** Objects that were missing or changed when last looked at; an update puts them right. */
  readonly drift: readonly ObjectName[];
  /** What to apply in the cluster, YAML, only with `render`. A secret: it holds the token. */
  readonly manifest?: string | undefined;
  /** Image of the release before this one; empty for the first. Absent in states of earlier versions. */
  readonly previousImage?: string | undefined;
}

export const namespaceOf = ({ agentSettings }: Pick<AgentInputs, 'agentSettings'>): string =>
  agentSettings?.namespace ?? defaults.agentNamespace;
export const ownerOf = (inputs: AgentInputs): { owner: string } => ({
  owner: `${inputs.owner} AgentRelease ${namespaceOf(inputs)}`,
});

/** Nothing is applied and nobody asked: the manifests, as one text for cloud-init or a manifests folder. */
export function rendered(inputs: AgentInputs, olds: AgentOutputs | undefined): AgentOutputs {
  // Marked as this release's own, so that a release with a kubeconfig can take over later.
  const objects = agentManifests(inputs, inputs.values).map((object) => stamped(object, ownerOf(inputs).owner));
  return {
    ...inputs,
    namespace: namespaceOf(inputs),
    clusterUID: '',
    ready: false,
    objects: objects.map((object) => nameOf(object)),
    manifestHash: manifestHash(agentManifests(inputs)),
    drift: [],
    manifest: toYaml(objects, { sorted: true }),
    previousImage: previousImage(inputs, olds),
  };
}

function previousImage({ image }: AgentInputs, olds: AgentOutputs | undefined): string {
  return olds === undefined || olds.image === image ? (olds?.previousImage ?? '') : olds.image;
}

/** With what `owned` holds at the time of asking. */
export async function outputsOf(
  inputs: AgentInputs,
  olds: AgentOutputs | undefined,
  edge: Target,
  owned: ReadonlySet<ObjectName>,
  context: CallContext,
): Promise<(ready: boolean) => AgentOutputs> {
  const clusterUID = (await edge.uid(context)) ?? '';
  const manifests = agentManifests(inputs, inputs.values);
  const hash = manifestHash(agentManifests(inputs));
  return (ready) => ({
    ...inputs,
    namespace: namespaceOf(inputs),
    clusterUID,
    ready,
    objects: inOrder(owned, manifests),
    manifestHash: hash,
    drift: [],
    previousImage: previousImage(inputs, olds),
  });
}
