/** A server that caps the life of tokens at a day, as managed Kubernetes does: long-lived credentials are token Secrets. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BundleDeployments } from '../../../api/fleet/kinds.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { ask, answerTo, asToken, createToken, valuesOf, workspace } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { startRunningHub } from '../../../test/support/running-hub.ts';

let hub: RunningHub;

beforeAll(async () => {
  hub = await startRunningHub('capped', { plane: { apiServerArgs: ['--service-account-max-token-expiration=24h'] } });
});
afterAll(() => hub?.close());

const claims = (token: string): { exp?: number } =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: number };

describe('a hub whose server caps tokens', () => {
  it('given a token without ttl, when issued, then its bearer has no end', async () => {
    await createToken(hub, 'endless');
    expect(claims((await valuesOf(hub, 'endless')).token).exp).toBeUndefined();
  });

  it('given a ttl below the cap, when issued, then the bearer is bound and kept in no other Secret', async () => {
    await createToken(hub, 'short', '1h');
    expect(claims((await valuesOf(hub, 'short')).token).exp).toBeDefined();
    const { items } = await hub.admin.list(Secrets, { namespace: workspace });
    expect(
      items.filter(({ metadata, type }) => metadata.name?.startsWith('short-') && type?.includes('token')),
    ).toEqual([]);
  });

  it.each([false, true])(
    'given an agent (rotating: %s), when it asks, then its credential has no end and works',
    async (rotating) => {
      const agent = await asToken(hub, 'endless');
      const answer = await answerTo(
        agent,
        await ask(agent, { clientID: `agent-${rotating}`, token: 'endless', rotating }),
      );
      expect(claims(answer['token'] ?? '').exp).toBeUndefined();
      const registered = hub.asBearer(answer['token'] ?? '');
      expect(
        (await registered.list(BundleDeployments, { namespace: answer['deploymentNamespace'] ?? '' })).items,
      ).toEqual([]);
    },
  );
});
