/**
 * ClusterProfiles of other cluster managers as sources. Pure. Of the ways in that a profile offers (KEP-5339), the hub
 * takes those whose credential lies in a Secret: a plugin's name says what its configuration means, and no plugin is run.
 */
import { findCondition, reasons } from '../../../api/conditions.ts';
import type { Condition } from '../../../api/conditions.ts';
import { secretKeys } from '../../../api/fleet/constants.ts';
import {
  accessProviders,
  clusterManager,
  conditionTypes as profileConditions,
  execExtension,
} from '../../../api/multicluster/constants.ts';
import type { RegistrationRuleSpec } from '../../../api/muster/kinds.ts';
import type { KubeObject } from '../../../api/resource.ts';
import type { Fault, SourceKubeconfig, Source } from './source.ts';
import { isFault, sourceBase } from './source.ts';

/** As far as it is read. */
export interface ProfileLike extends KubeObject {
  readonly spec?: { readonly clusterManager?: { readonly name?: string } };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly accessProviders?: readonly AccessProviderLike[];
    /** The older name of accessProviders. */
    readonly credentialProviders?: readonly AccessProviderLike[];
  };
}

interface AccessProviderLike {
  readonly name?: string;
  readonly cluster?: Readonly<Record<string, unknown>>;
}

/** Published by muster itself: registering it again would go round in circles. */
export function isOwnProfile(profile: ProfileLike): boolean {
  return profile.spec?.clusterManager?.name === clusterManager;
}

export function fromClusterProfile(profile: ProfileLike): Source {
  const unhealthy = findCondition(profile.status?.conditions, profileConditions.controlPlaneHealthy);
  return {
    ...sourceBase('ClusterProfile', profile),
    ...(unhealthy !== undefined && unhealthy.status !== 'True' ? { notReady: notHealthy(unhealthy) } : {}),
    paused: false,
    object: profile,
  };
}

function notHealthy({ message }: Condition): Fault {
  const why = message ? `: ${message.slice(0, 200)}` : '';
  return { reason: reasons.waitingForControlPlane, message: `its cluster manager does not call it healthy${why}` };
}

/** The credential of the wanted provider, or of the first that can be used. */
export function profileKubeconfig(
  profile: ProfileLike,
  { clusterProfile }: RegistrationRuleSpec['source'],
): SourceKubeconfig | Fault {
  const providers = providersOf(profile);
  const wanted = clusterProfile?.accessProvider;
  const candidates = wanted === undefined ? providers : providers.filter(({ name }) => name === wanted);
  const read = candidates.map((provider) => readProvider(profile, provider));
  const usable = read.find((each) => !isFault(each));
  if (usable !== undefined) return usable;
  const [first] = read;
  if (first !== undefined) return first;
  const message =
    wanted === undefined
      ? 'the ClusterProfile offers no access provider (status.accessProviders)'
      : `the ClusterProfile has no access provider ${wanted}; it has ${providers.map(({ name }) => name).join(', ') || 'none'}`;
  return { reason: reasons.accessProviderMissing, message };
}

/** The newer list wins where both have a name. */
function providersOf({ status }: ProfileLike): AccessProviderLike[] {
  const byName = new Map<string, AccessProviderLike>();
  for (const provider of [...(status?.accessProviders ?? []), ...(status?.credentialProviders ?? [])]) {
    if (provider.name && !byName.has(provider.name)) byName.set(provider.name, provider);
  }
  return [...byName.values()];
}

function readProvider(profile: ProfileLike, { name = '', cluster = {} }: AccessProviderLike): SourceKubeconfig | Fault {
  const config = execConfig(cluster);
  const text = (key: string): string | undefined => {
    const value = config?.[key];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const own = profile.metadata.namespace ?? '';
  const [secret, key, context, clusterName] = [text('name'), text('key'), text('context'), text('clusterName')];
  if (secret !== undefined && key !== undefined) {
    return { namespace: text('namespace') ?? own, name: secret, key, ...(context === undefined ? {} : { context }) };
  }
  if (name === accessProviders.token) {
    const { extensions: _, ...endpoint } = cluster;
    return { namespace: own, name: clusterName ?? profile.metadata.name ?? '', key: secretKeys.token, endpoint };
  }
  return {
    reason: reasons.accessProviderRefused,
    message:
      `access provider ${name} has no credential in a Secret, so a program would have to be run on the hub; ` +
      `offer ${accessProviders.kubeconfig} or ${accessProviders.token}, or register the cluster by its kubeconfig Secret`,
  };
}

function execConfig({ extensions }: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  if (!Array.isArray(extensions)) return undefined;
  const entries = extensions as { name?: unknown; extension?: unknown }[];
  const found = entries.find((entry) => entry?.name === execExtension)?.extension;
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined;
}
