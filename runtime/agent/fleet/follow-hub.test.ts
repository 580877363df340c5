import { rootCertificates } from 'node:tls';
import { beforeEach, describe, expect, it } from 'vitest';
import { MusterError } from '../../../api/errors.ts';
import { annotations, hubAddressKey } from '../../../api/fleet/constants.ts';
import { certificatesOf, formatHubAddress } from '../../../api/fleet/hub-address.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { ConfigMaps, Secrets } from '../../../api/kubernetes/core.ts';
import { MemoryCluster } from '../../../test/support/memory-cluster.ts';
import { silentLogger } from '../../kube/logger.ts';
import type { AgentContext } from './context.ts';
import { credentialOf, readCredential, storeCredential } from './credential.ts';
import { establish } from './link.ts';
import { AgentStatus } from './status.ts';
import { News } from './news.ts';
import { Wake } from './wake.ts';

const signal = new AbortController().signal;
const at = 'https://old:6443';
const [oldCa = '', newCa = ''] = rootCertificates.map((text) => text.trim());
/** As a ServiceAccount token of the hub whose key is `kid`. */
const token = (kid: string) => `${Buffer.from(JSON.stringify({ kid })).toString('base64url')}.e30.x`;

/** One hub, at some addresses, with one certificate. */
class World {
  readonly edge = new MemoryCluster('https://edge');
  readonly hub = new MemoryCluster(at);
  /** Where it answers. */
  addresses = [at];
  /** The authority that vouches for it. */
  ca = oldCa;
  /** Tokens that were shown to each address. */
  readonly shown = new Map<string, Set<string>>();

  constructor() {
    this.hub.add(Clusters, {
      apiVersion: 'fleet.cattle.io/v1alpha1',
      kind: 'Cluster',
      metadata: { namespace: 'ws', name: 'east' },
      spec: {},
      status: { namespace: 'x' },
    });
  }

  agent(): AgentContext {
    return {
      edge: this.edge.client(),
      namespace: 'agents',
      podName: 'pod',
      checkinIntervalMs: 1000,
      facts: () => Promise.resolve({}),
      status: new AgentStatus({ record: () => undefined, logger: silentLogger }),
      logger: silentLogger,
      wake: new Wake(),
      news: new News(),
      connect: (config) => {
        const check = (): void => {
          if (!this.addresses.includes(config.server)) throw new MusterError('UNREACHABLE', 'refuses connections');
          if (!certificatesOf(config.ca ?? '').includes(this.ca)) throw new MusterError('TLS_UNTRUSTED', 'unknown');
          this.shown.set(config.server, (this.shown.get(config.server) ?? new Set()).add(config.token ?? ''));
        };
        const client = this.hub.client();
        return {
          ...client,
          server: config.server,
          patch: async (...call: Parameters<typeof client.patch>) => {
            check();
            return await client.patch(...call);
          },
        } as typeof client;
      },
    };
  }

  async store(): Promise<void> {
    const place = { clusterNamespace: 'ws', clusterName: 'east', deploymentNamespace: 'x' };
    await storeCredential(
      this.edge.client(),
      'agents',
      credentialOf({ server: at, ca: oldCa, token: token('k'), ...place }),
    );
  }

  async stored() {
    const credential = await readCredential(this.edge.client(), 'agents');
    return { server: credential?.config.server, cas: certificatesOf(credential?.config.ca ?? '') };
  }

  announceAtEdge(url: string, ca: string): void {
    const data = { [hubAddressKey]: formatHubAddress({ url, ca }) };
    this.edge.add(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'agents', name: 'fleet-agent' },
      data,
    });
  }

  announceAtHub(text: string): void {
    const cluster = this.hub.one(Clusters, { namespace: 'ws', name: 'east' });
    const metadata = { ...cluster?.metadata, annotations: { [annotations.hubAddress]: text } };
    this.hub.add(Clusters, { ...cluster, metadata } as never);
  }

  invite(apiServerURL: string, apiServerCA: string, kid: string): void {
    const values = { apiServerURL, apiServerCA, clusterNamespace: 'ws', token: token(kid), tokenName: 'tok' };
    const all = { ...values, systemRegistrationNamespace: 'r' };
    const data = Object.fromEntries(Object.entries(all).map(([k, v]) => [k, Buffer.from(v).toString('base64')]));
    const metadata = { namespace: 'agents', name: 'fleet-agent-bootstrap' };
    this.edge.add(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data });
  }
}

let world: World;
beforeEach(async () => {
  world = new World();
  await world.store();
});

describe('a hub that changes its CA (fleet#2616, rancher#33323, rancher#37131)', () => {
  it('given a new CA before the certificate changes, then both are trusted, and afterwards only the new one', async () => {
    world.announceAtEdge(at, newCa);
    await establish(world.agent(), signal);
    expect(await world.stored()).toEqual({ server: at, cas: [oldCa, newCa] });
    world.ca = newCa;
    await establish(world.agent(), signal);
    expect(await world.stored()).toEqual({ server: at, cas: [newCa] });
  });

  it('given that the certificate changed first, when the CA is announced at the edge, then the agent comes back', async () => {
    world.ca = newCa;
    await expect(establish(world.agent(), signal)).rejects.toMatchObject({ reason: 'HubUntrusted' });
    world.announceAtEdge(at, newCa);
    await establish(world.agent(), signal);
    expect(await world.stored()).toEqual({ server: at, cas: [newCa] });
  });

  it('given that nothing but a bootstrap Secret came with the new CA, then it is used without a new registration', async () => {
    world.ca = newCa;
    world.invite(at, newCa, 'k');
    await establish(world.agent(), signal);
    expect(await world.stored()).toEqual({ server: at, cas: [newCa] });
    expect(world.hub.calls.filter(({ method }) => method === 'create')).toEqual([]);
  });

  it('given a CA that does not fit, then the working one is kept', async () => {
    world.announceAtHub(formatHubAddress({ url: 'https://nowhere', ca: newCa, replaces: [at] }));
    await establish(world.agent(), signal);
    expect(await world.stored()).toEqual({ server: at, cas: [oldCa] });
  });
});

describe('a hub that changes its address', () => {
  it('given a new address in the Cluster, when it answers, then the agent goes there with what it has', async () => {
    world.addresses = [at, 'https://new'];
    world.announceAtHub(formatHubAddress({ url: 'https://new', ca: oldCa, replaces: [at] }));
    await establish(world.agent(), signal);
    expect(await world.stored()).toEqual({ server: 'https://new', cas: [oldCa] });
  });

  it('given an agent at an address of its own, when the hub moves from another one, then it stays', async () => {
    world.addresses = [at, 'https://new'];
    world.announceAtHub(formatHubAddress({ url: 'https://new', ca: oldCa, replaces: ['https://elsewhere'] }));
    await establish(world.agent(), signal);
    expect(await world.stored()).toEqual({ server: at, cas: [oldCa] });
  });

  it('given a bootstrap Secret of another hub, then our credential is never shown to that one', async () => {
    world.addresses = ['https://other'];
    world.invite('https://other', oldCa, 'another key');
    await expect(establish(world.agent(), signal)).rejects.toMatchObject({ reason: 'HubUnreachable' });
    expect(world.shown.get('https://other')).toBeUndefined();
  });
});
