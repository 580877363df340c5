/** A control plane with the definitions and the hub's manifests, and the hub's own ServiceAccount to act as. */
import type { KubeObject, ObjectKey } from '../../api/resource.ts';
import { resourceTypeOf, synthCrds, synthHub } from '../../components/fleet/index.ts';
import type { HubProps } from '../../components/fleet/index.ts';
import { hubNames } from '../../components/fleet/names.ts';
import { isForbidden } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane, poll } from '../harness/index.ts';
import type { ControlPlaneOptions } from '../harness/index.ts';

const system = 'cattle-fleet-system';

export interface HubPlane {
  readonly plane: ControlPlane;
  readonly admin: KubeClient;
  /** The hub, with its own rights and no more. */
  readonly hub: KubeClient;
  /** A client that acts as a ServiceAccount. Closed with the plane. */
  as(account: Required<ObjectKey>): Promise<KubeClient>;
  close(): Promise<void>;
}

/** Starts it and waits until the API server enforces the policies. */
export async function startHubPlane(
  name: string,
  props: Partial<HubProps> = {},
  planeOptions: ControlPlaneOptions = {},
): Promise<HubPlane> {
  const plane = await ControlPlane.start({ name, ...planeOptions });
  const clients: KubeClient[] = [];
  const keep = (client: KubeClient): KubeClient => {
    clients.push(client);
    return client;
  };
  const admin = keep(plane.client());
  const as = async (account: Required<ObjectKey>): Promise<KubeClient> => {
    const { token } = await admin.createToken(account, { expirationSeconds: 3600 });
    return keep(plane.clientFor(token));
  };
  const close = async (): Promise<void> => {
    await Promise.all(clients.map((client) => client.close()));
    await plane.close();
  };
  try {
    await applyAll(admin, synthCrds());
    await applyAll(admin, synthHub({ image: 'muster:test', config: {}, ...props }));
    const hub = await as({ namespace: system, name: hubNames.serviceAccount });
    await policiesEnforced(hub);
    return { plane, admin, hub, as, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Applies manifests as an administrator would. */
export async function applyAll(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) await client.apply(resourceTypeOf(object), object, { fieldManager: 'test' });
}

/** The API server takes new policies into account some moments after they are written. */
async function policiesEnforced(hub: KubeClient): Promise<void> {
  const forbidden: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'not-for-the-hub' } };
  const isDenied = async (): Promise<true | undefined> => {
    try {
      await hub.apply(resourceTypeOf(forbidden), forbidden, { fieldManager: 'test', dryRun: true });
      return undefined;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      return error.message.includes('ValidatingAdmissionPolicy') ? true : undefined;
    }
  };
  await poll(isDenied, { what: 'the admission policies' });
}
