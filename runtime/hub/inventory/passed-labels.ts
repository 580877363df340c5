/** Labels of a Cluster that its images in other tools carry, so that those can select by them. Pure. */

/**
 * Prefixes of keys that mean something to the program that put them there: on a copy they would be a lie. Argo CD and Flux
 * take an object with their tracking labels for one that they made, and prune it.
 */
const kept = [
  'muster.dev',
  'x-k8s.io',
  'multicluster.x-k8s.io',
  'kubectl.kubernetes.io',
  'app.kubernetes.io',
  'argocd.argoproj.io',
  'kustomize.toolkit.fluxcd.io',
  'helm.toolkit.fluxcd.io',
  'helm.sh',
];

export function passedLabels(labels: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !isKept(key)));
}

function isKept(key: string): boolean {
  const prefix = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  return prefix === 'cattle.io' || prefix.endsWith('.cattle.io') || kept.includes(prefix);
}
