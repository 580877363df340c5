/** The downstream clusters: given ones, or ones that this program provisions. Any provider of clusters fits here. */
import * as pulumi from '@pulumi/pulumi';
import { LocalCluster } from '../local-cluster/local-cluster.ts';
import { clusterService, givenKubeconfigs, names } from './settings.ts';
import type { Name } from './settings.ts';

/** Kubeconfigs by name. Those of new clusters are unknown until the clusters are made: a preview works all the same. */
export function kubeconfigs(): Partial<Record<Name, pulumi.Output<string>>> {
  const given = givenKubeconfigs;
  if (given !== undefined) return perName((name) => given.apply((kubeconfigs) => kubeconfigs[name] ?? missing(name)));
  if (clusterService === undefined) {
    throw new pulumi.RunError(
      'No clusters: set clusterKubeconfigs (a secret object, name → kubeconfig), or clusterService, the socket of a service that makes them.',
    );
  }
  const socket = clusterService;
  return perName((name) => new LocalCluster(name, { socket }).kubeconfig);
}

function perName<T>(make: (name: Name) => T): Partial<Record<Name, T>> {
  return Object.fromEntries(names.map((name) => [name, make(name)]));
}

function missing(name: Name): never {
  throw new pulumi.RunError(
    `clusterKubeconfigs has no kubeconfig for ${name}; add it, or leave ${name} out of clusters.`,
  );
}
