import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labels } from '../../../api/fleet/constants.ts';
import { BundleDeployments, ClusterRegistrations, Clusters } from '../../../api/fleet/kinds.ts';
import { autoClusterName } from '../../../api/fleet/names.ts';
import { Namespaces, Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { ClusterRoleBindings, RoleBindings } from '../../../api/kubernetes/rbac.ts';
import { poll } from '../../../test/harness/index.ts';
import {
  ask,
  answerTo,
  asToken,
  clusterThat,
  condition,
  createToken,
  valuesOf,
  workspace,
} from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { registrationNamespace, startRunningHub } from '../../../test/support/running-hub.ts';
import type { KubeClient } from '../../kube/client.ts';

let hub: RunningHub;
let agent: KubeClient;

beforeAll(async () => {
  hub = await startRunningHub('crash');
  await createToken(hub, 'tok');
  agent = await asToken(hub, 'tok');
  await hub.stop();
});
afterAll(() => hub?.close());

/**
 * A client that stops the world at its write number `at`: that one is lost before or after the server did it, and all
 * later calls hang, as those of a dead process.
 */
function dyingClient(
  real: KubeClient,
  at: number,
  when: 'before' | 'after',
): { client: KubeClient; died: Promise<void> } {
  let writes = 0;
  let dead = false;
  let tell: () => void;
  const died = new Promise<void>((resolve) => (tell = resolve));
  const never = new Promise<never>(() => undefined);
  const isWrite = (name: string, options: unknown): boolean =>
    ['create', 'apply', 'patch', 'replace', 'delete', 'createToken'].includes(name) ||
    (name === 'raw' && (options as { method?: string } | undefined)?.method === 'POST');
  const client = new Proxy(real, {
    get(target, name: keyof KubeClient) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || name === 'close' || name === 'watch') return member;
      return async (...args: unknown[]): Promise<unknown> => {
        if (dead) return await never;
        const mine = isWrite(name, args[1]) ? ++writes : 0;
        if (mine === at) {
          dead = true;
          if (when === 'after')
            await (member as (...all: unknown[]) => Promise<unknown>).apply(target, args).catch(() => undefined);
          tell();
          return await never;
        }
        const result: unknown = await (member as (...all: unknown[]) => Promise<unknown>).apply(target, args);
        return dead ? await never : result;
      };
    },
  });
  return { client, died };
}

/** Runs a hub until it dies at its write number `at`; false when it had fewer writes to make. */
async function runDying(at: number, when: 'before' | 'after', finished: () => Promise<unknown>): Promise<boolean> {
  const real = await hub.newHubClient();
  const { client, died } = dyingClient(real, at, when);
  const running = hub.startApart(client);
  const controller = new AbortController();
  const outcome = await Promise.race([
    died.then(() => true),
    poll(async () => ((await finished()) ? true : undefined), {
      what: 'death or success',
      signal: controller.signal,
    }).then(() => false),
  ]);
  controller.abort();
  running.abandon();
  await real.close();
  return outcome;
}

async function belongings(clientID: string) {
  const name = autoClusterName(clientID);
  const own = (list: { metadata: { annotations?: Record<string, string> } }[]) =>
    list.filter(({ metadata }) => metadata.annotations?.['fleet.cattle.io/cluster'] === name);
  const [namespaces, accounts, bindings, clusterBindings, answers, clusters, requests] = await Promise.all([
    hub.admin.list(Namespaces, { labelSelector: `${labels.managed}=true` }),
    hub.admin.list(ServiceAccounts, { labelSelector: `${labels.managed}=true` }),
    hub.admin.list(RoleBindings, { labelSelector: `${labels.managed}=true` }),
    hub.admin.list(ClusterRoleBindings, { labelSelector: `${labels.managed}=true` }),
    hub.admin.list(Secrets, { namespace: registrationNamespace }),
    hub.admin.list(Clusters, { namespace: workspace }),
    hub.admin.list(ClusterRegistrations, { namespace: workspace }),
  ]);
  return {
    namespaces: own(namespaces.items).length,
    accounts: own(accounts.items).length,
    bindings: own(bindings.items).length,
    clusterBindings: own(clusterBindings.items).length,
    answers: own(answers.items).length,
    clusters: clusters.items.filter(({ spec }) => spec?.clientID === clientID).length,
    requests: requests.items.filter(({ spec }) => spec?.clientID === clientID).length,
  };
}

describe('a hub that dies in the middle of a registration', () => {
  const points = Array.from({ length: 13 }, (_, index) => index + 1).flatMap((at) =>
    (['before', 'after'] as const).map((when) => [at, when] as const),
  );

  it.each(points)(
    'given it dies at write %i, %s the server did it, when started again, then nothing is lost or twice',
    async (at, when) => {
      const clientID = `dies-${at}-${when}`;
      const request = await ask(agent, { clientID, token: 'tok' });
      const key = { namespace: workspace, name: request.metadata.name ?? '' };
      const granted = async () => (await hub.admin.get(ClusterRegistrations, key)).status?.granted;
      await runDying(at, when, granted);

      await hub.start();
      const answer = await answerTo(agent, request);
      await poll(async () => ((await granted()) ? true : undefined), { what: 'granted' });
      const namespace = answer['deploymentNamespace'] ?? '';
      expect((await hub.asBearer(answer['token'] ?? '').list(BundleDeployments, { namespace })).items).toEqual([]);
      await clusterThat(
        hub,
        autoClusterName(clientID),
        (c) => condition(c, 'Registered')?.status === 'True',
        'Registered',
      );
      expect(await belongings(clientID)).toEqual({
        namespaces: 1,
        accounts: 1,
        bindings: 2,
        clusterBindings: 1,
        answers: 1,
        clusters: 1,
        requests: 1,
      });
      await hub.stop();
    },
  );
});

describe('a hub that dies while it issues a token', () => {
  it.each([1, 2, 3, 4, 5, 6].flatMap((at) => (['before', 'after'] as const).map((when) => [at, when] as const)))(
    'given it dies at write %i, %s the server did it, when started again, then the values work',
    async (at, when) => {
      const name = `token-${at}-${when}`;
      await createToken(hub, name, '1h');
      const issued = async () => await hub.admin.find(Secrets, { namespace: workspace, name });
      await runDying(at, when, issued);
      await hub.start();
      const client = hub.asBearer((await valuesOf(hub, name)).token);
      const request = await ask(client, { clientID: name, token: name });
      expect(await answerTo(client, request)).toHaveProperty('token');
      await hub.stop();
    },
  );
});
