import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { secretNames } from '../../../api/fleet/constants.ts';
import { parseKubeconfig } from '../../kube/kubeconfig.ts';
import type { HubConfig } from '../../../api/fleet/hub-config.ts';
import type { Cluster, GitRepo } from '../../../api/fleet/kinds.ts';
import { ClusterGroups, Clusters, GitRepos } from '../../../api/fleet/kinds.ts';
import { Namespaces, Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { Deployments } from '../../../api/kubernetes/workloads.ts';
import { synthHub } from '../../../components/fleet/index.ts';
import { poll } from '../../../test/harness/index.ts';
import { applyAll } from '../../../test/support/hub-plane.ts';
import { condition } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { startRunningHub, systemNamespace } from '../../../test/support/running-hub.ts';
import { runAgent } from '../../agent/fleet/agent.ts';

const agentNamespace = 'cattle-fleet-local-system';
const key = { namespace: 'fleet-local', name: 'local' };
const bootstrap: HubConfig['bootstrap'] = { namespace: 'fleet-local', clusterLabels: { env: 'hub' } };
let hub: RunningHub;

beforeAll(async () => {
  hub = await startRunningHub('local');
  await installHub({});
});
afterAll(async () => await hub?.close());

const deployment = () => hub.admin.find(Deployments, { namespace: agentNamespace, name: 'fleet-agent' });

async function localThat(look: (cluster: Cluster) => boolean, what: string): Promise<Cluster> {
  return await poll(
    async () => {
      const found = await hub.admin.find(Clusters, key);
      return found !== undefined && look(found) ? found : undefined;
    },
    { what: `Cluster local: ${what}`, limitMs: 25_000 },
  );
}

/** The manifests of a hub with this configuration, but its ConfigMap, which `configure` writes. */
async function installHub(config: HubConfig): Promise<void> {
  const manifests = synthHub({ image: 'muster:test', config, tolerations: [{ key: 'infra', operator: 'Exists' }] });
  await applyAll(
    hub.admin,
    manifests.filter(({ kind }) => kind !== 'ConfigMap'),
  );
}

describe('the hub’s own cluster', () => {
  it('given no bootstrap namespace, then it is not registered', async () => {
    await hub.quiet();
    expect(await hub.admin.find(Clusters, key)).toBeUndefined();
  });

  it('given bootstrap without the manifests for it, then the Cluster says what is missing, and goes on when they come', async () => {
    await hub.configure({ bootstrap });
    await poll(() => Promise.resolve(hub.lines.some((line) => line.includes('bootstrap')) ? true : undefined), {
      what: 'a word about it',
    });
    await installHub({ bootstrap });
    await localThat((c) => condition(c, 'Imported')?.status === 'True', 'Imported');
  }, 60_000);

  it('given bootstrap, then Cluster, group and agent are there, with no credential that leads back to the hub', async () => {
    const local = await localThat((c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    expect(local.metadata.labels).toMatchObject({ name: 'local', env: 'hub' });
    expect(local.spec).toMatchObject({
      agentNamespace,
      agentTolerations: expect.arrayContaining([{ key: 'infra', operator: 'Exists' }]) as unknown,
    });
    expect(local.spec?.kubeConfigSecret).toBeUndefined();
    expect(await hub.admin.find(Secrets, { namespace: 'fleet-local', name: 'local-cluster' })).toBeUndefined();
    const group = await poll(() => hub.admin.find(ClusterGroups, { namespace: 'fleet-local', name: 'default' }), {
      what: 'the group',
    });
    expect(group.spec?.selector).toEqual({ matchLabels: { name: 'local' } });
    expect(JSON.stringify((await deployment())?.spec.template.spec)).toContain('infra');
  });

  it('given the agent, when it runs, then the hub’s own cluster is ready', async () => {
    const controller = new AbortController();
    const edge = hub.plane.client();
    const running = runAgent({ edge, namespace: agentNamespace, leaderElect: false }, controller.signal);
    await localThat((c) => condition(c, 'Ready')?.status === 'True', 'Ready');
    controller.abort();
    await running;
    const stored = await edge.get(Secrets, { namespace: agentNamespace, name: secretNames.agent });
    await edge.close();
    const { token = '' } = parseKubeconfig(Buffer.from(stored.data?.['kubeconfig'] ?? '', 'base64'), { policy: 'hub' });
    const agent = hub.asBearer(token);
    await expect(agent.list(Secrets, { namespace: systemNamespace })).rejects.toMatchObject({ status: 403 });
    await expect(agent.list(Secrets, { namespace: 'fleet-local' })).rejects.toMatchObject({ status: 403 });
  }, 60_000);

  it('given a label that a user changed, when the hub starts again, then it stays (fleet#5352, fleet#2725)', async () => {
    await hub.admin.patch(Clusters, key, { metadata: { labels: { env: 'mine' } } }, { type: 'merge' });
    await hub.stop();
    await hub.start();
    await hub.quiet();
    expect((await hub.admin.get(Clusters, key)).metadata.labels).toMatchObject({ env: 'mine' });
    const generation = (await deployment())?.metadata.generation;
    expect(generation).toBe(1);
  }, 60_000);

  it('given a repository, then GitRepo bootstrap says so and follows, what a user changed stays, and it goes with the setting', async () => {
    const gitKey = { namespace: 'fleet-local', name: 'bootstrap' };
    const gitRepo = (look: (found: GitRepo | undefined) => boolean, what: string) =>
      poll(
        async () => {
          const found = await hub.admin.find(GitRepos, gitKey);
          return look(found) ? { found } : undefined;
        },
        { what: `GitRepo bootstrap: ${what}` },
      );
    const repo = { repo: 'https://git.example/fleet', branch: 'main', secret: 'git', paths: 'hub, edge' };
    await hub.configure({ bootstrap: { ...bootstrap, ...repo } });
    const made = await gitRepo((found) => found !== undefined, 'made');
    expect(made.found?.spec).toEqual({
      repo: 'https://git.example/fleet',
      branch: 'main',
      clientSecretName: 'git',
      paths: ['hub', 'edge'],
    });
    await hub.admin.patch(GitRepos, gitKey, { spec: { paused: true } }, { type: 'merge' });
    await hub.configure({ bootstrap: { ...bootstrap, ...repo, paths: '' } });
    const changed = await gitRepo((found) => found?.spec?.paths === undefined, 'changed');
    expect(changed.found?.spec).toEqual({
      repo: 'https://git.example/fleet',
      branch: 'main',
      clientSecretName: 'git',
      paused: true,
    });
    await hub.configure({ bootstrap });
    await gitRepo((found) => found === undefined, 'gone');
  }, 60_000);

  it('given localAgentDisabled, then the agent goes and what came with the hub stays; given it off, then it is back', async () => {
    const invitation = { namespace: agentNamespace, name: secretNames.bootstrap };
    await hub.configure({ bootstrap: { ...bootstrap, localAgentDisabled: true } });
    await poll(async () => ((await deployment()) === undefined ? true : undefined), { what: 'no agent' });
    await localThat((c) => condition(c, 'Imported')?.message?.includes('disabled') === true, 'told');
    expect(await hub.admin.find(Namespaces, { name: agentNamespace })).toBeDefined();
    expect(await hub.admin.find(ServiceAccounts, { namespace: agentNamespace, name: 'fleet-agent' })).toBeDefined();
    // and it stays away, whatever makes the hub look again (fleet#4428)
    const away = async (): Promise<void> => {
      await hub.quiet();
      expect(await deployment()).toBeUndefined();
      expect(await hub.admin.find(Secrets, invitation)).toBeUndefined();
    };
    await hub.stop();
    await hub.start();
    await away();
    await hub.configure({ bootstrap: { ...bootstrap, localAgentDisabled: true }, agentCheckinInterval: '14m' });
    await away();
    await hub.configure({ bootstrap });
    await poll(deployment, { what: 'the agent' });
    await poll(() => hub.admin.find(Secrets, invitation), {
      what: 'a bootstrap Secret, as its credential went with it',
    });
  }, 60_000);

  it('given the hub’s namespace as that of its agent, then it is refused (fleet#5620)', async () => {
    await hub.configure({ bootstrap: { ...bootstrap, agentNamespace: systemNamespace } });
    const told = await localThat((c) => condition(c, 'Imported')?.reason === 'InvalidSpec', 'refused');
    expect(condition(told, 'Imported')?.message).toContain("is the hub's own");
    expect(await hub.admin.find(Deployments, { namespace: systemNamespace, name: 'fleet-agent' })).toBeUndefined();
    expect(await deployment()).toBeDefined();
  });
});
