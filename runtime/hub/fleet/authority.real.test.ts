/** A hub whose API server goes over to certificates of another authority, while agents of both kinds of registration live. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootstrapSecretData } from '../../../api/fleet/bootstrap-values.ts';
import { secretNames } from '../../../api/fleet/constants.ts';
import { certificatesOf } from '../../../api/fleet/hub-address.ts';
import { ClusterRegistrations } from '../../../api/fleet/kinds.ts';
import { Namespaces, Secrets } from '../../../api/kubernetes/core.ts';
import { Authority, ControlPlane, poll } from '../../../test/harness/index.ts';
import { clusterThat, condition, createToken, declareImported } from '../../../test/support/registering.ts';
import { valuesOf, workspace } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { startRunningHub, systemNamespace } from '../../../test/support/running-hub.ts';
import { runAgent } from '../../agent/fleet/agent.ts';
import { isMusterError } from '../../../api/errors.ts';
import type { KubeClient } from '../../kube/client.ts';
import { createClient } from '../../kube/create-client.ts';
import { parseKubeconfig } from '../../kube/kubeconfig.ts';

const byToken = 'by-token';
const [before, after] = [Authority.create('before'), Authority.create('after')];
let hub: RunningHub;
let edge: ControlPlane;
let downstream: KubeClient;
let [old = '', next = '']: string[] = [before.cert, after.cert];
const stop = new AbortController();
const agents: Promise<void>[] = [];

const base64 = (...certificates: string[]): string => Buffer.from(certificates.join('\n')).toString('base64');

beforeAll(async () => {
  [hub, edge] = await Promise.all([
    startRunningHub('authority', { plane: { successor: after } }),
    ControlPlane.start({ name: 'edge' }),
  ]);
  [old = '', next = ''] = certificatesOf(hub.plane.ca);
  await hub.configure({ apiServerCA: base64(old) });
  downstream = edge.client();
  await createToken(hub, 'tok');
  const values = await poll(
    async () => {
      const found = await valuesOf(hub, 'tok');
      return certificatesOf(found.apiServerCA).length === 1 ? found : undefined;
    },
    { what: 'values with the first CA alone' },
  );
  await downstream.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: byToken } });
  await downstream.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: byToken, name: secretNames.bootstrap },
    data: bootstrapSecretData(values),
  });
  await declareImported(hub, 'east', edge.kubeconfig);
  await clusterThat(hub, 'east', (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
  for (const namespace of [systemNamespace, byToken]) {
    // so rare that what follows does not happen by a heartbeat that was due anyway
    const options = { edge: downstream, namespace, leaderElect: false, checkinIntervalMs: 3_600_000 };
    agents.push(runAgent(options, stop.signal));
  }
  await Promise.all([systemNamespace, byToken].map((namespace) => trusts(namespace, [old])));
});
afterAll(async () => {
  stop.abort();
  await Promise.all(agents);
  await downstream?.close();
  await Promise.all([hub?.close(), edge?.close()]);
});

async function stored(namespace: string) {
  const secret = await downstream.find(Secrets, { namespace, name: secretNames.agent });
  const text = Buffer.from(secret?.data?.['kubeconfig'] ?? '', 'base64');
  return secret === undefined ? undefined : parseKubeconfig(text, { policy: 'hub' });
}

/**
 * Waits until the credential that an agent has stored trusts these, and nothing else. When the API server was away, agents
 * come back spread over half a minute.
 */
async function trusts(namespace: string, certificates: readonly string[]): Promise<void> {
  await poll(
    async () => {
      const found = certificatesOf((await stored(namespace))?.ca ?? '');
      return (found.length === certificates.length && found.every((each) => certificates.includes(each))) || undefined;
    },
    { what: `${certificates.length} certificates in the credential of ${namespace}`, limitMs: 75_000 },
  );
}

const tokens = async (): Promise<(string | undefined)[]> =>
  await Promise.all([systemNamespace, byToken].map(async (namespace) => (await stored(namespace))?.token));
const requests = async (): Promise<(string | undefined)[]> =>
  (await hub.admin.list(ClusterRegistrations, { namespace: workspace })).items
    .map(({ metadata }) => metadata.uid)
    .sort();

/** What an agent has stored works now. */
async function worksNow(namespace: string): Promise<void> {
  const config = await stored(namespace);
  if (config === undefined) throw new Error(`${namespace} has no credential`);
  const client = createClient(config);
  try {
    await client.raw('/version');
  } finally {
    await client.close();
  }
}

describe('a CA of the hub that is replaced', () => {
  it.each([
    ['announced alone, before it is used', (): string => base64(next)],
    ['announced beside the old one', (): string => base64(old, next)],
  ])(
    'given one that is %s, then both agents trust both, without a new registration',
    async (_how, announced) => {
      await hub.configure({ apiServerCA: base64(old) });
      await Promise.all([systemNamespace, byToken].map((namespace) => trusts(namespace, [old])));
      const known = { tokens: await tokens(), requests: await requests() };
      await hub.configure({ apiServerCA: announced() });
      await Promise.all([systemNamespace, byToken].map((namespace) => trusts(namespace, [old, next])));
      expect({ tokens: await tokens(), requests: await requests() }).toEqual(known);
      await Promise.all([systemNamespace, byToken].map(worksNow));
    },
    60_000,
  );

  it('given that the API server goes over to it, then who trusts the old one is shut out, and the agents go on', async () => {
    const known = { tokens: await tokens(), requests: await requests() };
    await hub.plane.changeAuthority();
    const outsider = createClient({ server: hub.plane.server, ca: old, token: 'x', contextName: 'outsider' });
    await expect(outsider.raw('/version')).rejects.toSatisfy((error) => isMusterError(error, 'TLS_UNTRUSTED'));
    await outsider.close();
    await Promise.all([systemNamespace, byToken].map(worksNow));

    await hub.configure({ apiServerCA: base64(next) });
    await Promise.all([systemNamespace, byToken].map((namespace) => trusts(namespace, [next])));
    await Promise.all([systemNamespace, byToken].map(worksNow));
    expect({ tokens: await tokens(), requests: await requests() }).toEqual(known);
  }, 240_000);
});
