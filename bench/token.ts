/** A registration token of the hub, from its creation to the values that an agent is given. */
import type { BootstrapValues } from '../api/fleet/bootstrap-values.ts';
import { parseValues } from '../api/fleet/bootstrap-values.ts';
import { secretKeys } from '../api/fleet/constants.ts';
import { ClusterRegistrationTokens } from '../api/fleet/kinds.ts';
import { Secrets } from '../api/kubernetes/core.ts';
import { firstMatch } from './watching.ts';
import type { Target } from './target.ts';
import { workspace } from './target.ts';

export interface MadeToken {
  readonly values: BootstrapValues;
  /** Creation of the token to its values being readable. */
  readonly ms: number;
}

export async function makeToken(target: Target, name: string): Promise<MadeToken> {
  const { admin } = target;
  const watched = await firstMatch(
    admin,
    Secrets,
    { namespace: workspace, fieldSelector: `metadata.name=${name}` },
    ({ data }) => data?.[secretKeys.values] !== undefined,
  );
  const start = performance.now();
  await admin.create(ClusterRegistrationTokens, {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'ClusterRegistrationToken',
    metadata: { namespace: workspace, name },
    spec: { ttl: '24h' },
  });
  const { object, at } = await watched.found;
  const text = Buffer.from(object.data?.[secretKeys.values] ?? '', 'base64').toString('utf8');
  return { values: parseValues(text), ms: at - start };
}
