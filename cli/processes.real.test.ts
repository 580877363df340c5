import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ClusterRegistrationTokens } from '../api/fleet/kinds.ts';
import { Leases } from '../api/kubernetes/workloads.ts';
import { synthAgent } from '../components/fleet/index.ts';
import { ManagedProcess } from '../test/harness/managed-process.ts';
import { poll } from '../test/harness/index.ts';
import { applyAll, startHubPlane } from '../test/support/hub-plane.ts';
import type { HubPlane } from '../test/support/hub-plane.ts';
import { condition, createToken, workspace } from '../test/support/registering.ts';

const namespace = 'cattle-fleet-system';
const edge = 'edge-system';
const main = join(import.meta.dirname, 'main.ts');

let hub: HubPlane;
beforeAll(async () => {
  hub = await startHubPlane('processes');
  await applyAll(hub.admin, synthAgent({ image: 'muster:test', namespace: edge }));
});
afterAll(() => hub?.close());

/** Starts `muster …` as one would at a prompt, with no endpoints, so that no port is in the way. */
async function muster(
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<ManagedProcess> {
  return await ManagedProcess.start({
    name,
    command: process.execPath,
    args: [main, ...args],
    logFile: join(hub.plane.dir, `${name}.log`),
    env: {
      MUSTER_PROBE_BIND_ADDRESS: '0',
      MUSTER_METRICS_BIND_ADDRESS: '0',
      FLEET_AGENT_PROBE_BIND_ADDRESS: '0',
      FLEET_AGENT_METRICS_BIND_ADDRESS: '0',
      POD_NAME: `${name}-pod`,
      ...env,
    },
  });
}

async function kubeconfigOf(account: { namespace: string; name: string }): Promise<string> {
  const { token } = await hub.admin.createToken(account, { expirationSeconds: 3600 });
  const path = join(hub.plane.dir, `${account.name}.kubeconfig`);
  writeFileSync(path, hub.plane.kubeconfigFor({ token }), { mode: 0o600 });
  return path;
}

const holder = async (key: { namespace: string; name: string }): Promise<string | undefined> =>
  (await hub.admin.find(Leases, key))?.spec?.holderIdentity || undefined;

describe.each([
  ['hub', namespace, 'muster-hub'],
  ['agent', edge, 'fleet-agent'],
] as const)('given muster %s with its own rights', (command, home, name) => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'when it has taken its lease and %s comes, then it gives the lease back and the exit code is 0',
    async (signal) => {
      const kubeconfig = await kubeconfigOf({ namespace: home, name });
      const started = await muster(command, [command, '--kubeconfig', kubeconfig, '--namespace', home]);
      const key = { namespace: home, name };
      const held = async () => ((await holder(key)) === `${command}-pod` ? true : undefined);
      await Promise.race([poll(held, { what: `the lease of the ${command}` }), started.failure()]);
      expect(await started.stop({ signal })).toEqual({ code: 0, signal: null });
      expect(await holder(key)).toBeUndefined();
    },
  );

  test('when its kubeconfig is none, then one line says so and the exit code is 1', async () => {
    const path = join(hub.plane.dir, 'broken.kubeconfig');
    writeFileSync(path, '<html></html>');
    const started = await muster(`${command}-broken`, [command, '--kubeconfig', path]);
    expect((await started.exited).code).toBe(1);
    expect(started.logTail()).toMatch(/^\[INVALID_KUBECONFIG\] .+$/);
  });

  test('when its environment is malformed, then the variable is named and the exit code is 1', async () => {
    const started = await muster(`${command}-malformed`, [command, '--kubeconfig', hub.plane.kubeconfigPath], {
      MUSTER_LOG_LEVEL: 'loud',
    });
    expect((await started.exited).code).toBe(1);
    expect(started.logTail()).toMatch(/^\[INVALID_ARGUMENT\] env MUSTER_LOG_LEVEL: is "loud"\. Write one of debug/m);
  });
});

test('given muster hub, when its credential is refused, then one line says so and the exit code is 1', async () => {
  const path = join(hub.plane.dir, 'refused.kubeconfig');
  writeFileSync(path, hub.plane.kubeconfigFor({ token: 'not-a-token' }), { mode: 0o600 });
  const started = await muster('hub-refused', ['hub', '--kubeconfig', path, '--namespace', namespace]);
  expect((await started.exited).code).toBe(1);
  expect(started.logTail()).toMatch(/^\[UNAUTHORIZED\] .+$/m);
});

test('given FLEET_REGISTRATION_TOKEN_TTL_REQUIRED, when a token has no ttl, then it is refused, and one with a ttl is not', async () => {
  const kubeconfig = await kubeconfigOf({ namespace, name: 'muster-hub' });
  const started = await muster('hub-ttl', ['hub', '--kubeconfig', kubeconfig, '--namespace', namespace], {
    FLEET_REGISTRATION_TOKEN_TTL_REQUIRED: 'true',
  });
  await createToken(hub, 'endless');
  await createToken(hub, 'ending', '1h');
  const reasonOf = (name: string) =>
    poll(
      async () => {
        const found = await hub.admin.find(ClusterRegistrationTokens, { namespace: workspace, name });
        return condition(found, 'Issued')?.reason;
      },
      { what: `a word about token ${name}`, limitMs: 60_000 },
    );
  const told = await Promise.race([Promise.all([reasonOf('endless'), reasonOf('ending')]), started.failure()]);
  // what the other one lacks is the address, which this hub was not given
  expect(told).toEqual(['TTLRequired', 'HubAddressMissing']);
  await started.stop();
}, 90_000);

test('given FLEET_REGISTRATION_TOKEN_TTL_REQUIRED with a word that is neither yes nor no, then it is named', async () => {
  const started = await muster('hub-ttl-word', ['hub', '--kubeconfig', hub.plane.kubeconfigPath], {
    FLEET_REGISTRATION_TOKEN_TTL_REQUIRED: 'maybe',
  });
  expect((await started.exited).code).toBe(1);
  expect(started.logTail()).toMatch(/^\[INVALID_ARGUMENT\] env FLEET_REGISTRATION_TOKEN_TTL_REQUIRED: is "maybe"/m);
});
