/** A request as our agent sends it; an original hub ignores the annotation. */
import { annotations, apiVersion, rotatingCredential } from '../api/fleet/constants.ts';
import type { ClusterRegistration } from '../api/fleet/kinds.ts';
import { randomToken } from '../api/fleet/names.ts';
import { workspace } from './target.ts';

/** `identity`: a random one where none is given. */
export function requestOf(
  labels: Readonly<Record<string, string>>,
  identity: { readonly clientID?: string; readonly clientRandom?: string } = {},
): ClusterRegistration {
  const { clientID = `bench-${randomToken(12)}`, clientRandom = randomToken() } = identity;
  return {
    apiVersion,
    kind: 'ClusterRegistration',
    metadata: {
      generateName: 'request-',
      namespace: workspace,
      labels: { ...labels },
      annotations: { [annotations.credential]: rotatingCredential },
    },
    spec: { clientID, clientRandom, clusterLabels: { bench: 'true' } },
  };
}
