/** A hub at work on a real control plane, under its own ServiceAccount; it can be ended and started again. */
import { hubNames } from '../../components/fleet/names.ts';
import { ConfigMaps } from '../../api/kubernetes/core.ts';
import { annotations, configKey, configMapNames } from '../../api/fleet/constants.ts';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import { formatHubConfig } from '../../api/fleet/hub-config.ts';
import { version } from '../../api/version.ts';
import { runHub } from '../../runtime/hub/fleet/hub.ts';
import { poll } from '../harness/index.ts';
import type { ControlPlaneOptions } from '../harness/index.ts';
import { createMetrics } from '../../runtime/kube/metrics.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { Logger } from '../../runtime/kube/logger.ts';
import { createLogger } from '../../runtime/kube/logger.ts';
import { createClient } from '../../runtime/kube/create-client.ts';
import type { HubPlane } from './hub-plane.ts';
import { startHubPlane } from './hub-plane.ts';

export const systemNamespace = 'cattle-fleet-system';
export const registrationNamespace = 'cattle-fleet-clusters-system';

export interface RunningHub extends HubPlane {
  /** Starts (another) hub process; `server` may be that of a proxy. */
  start(options?: { server?: string; ca?: string; client?: KubeClient }): Promise<void>;
  /** A client with the hub's own rights; the caller closes it. */
  newHubClient(): Promise<KubeClient>;
  /** Runs a hub beside with this client; `abandon` forgets it without waiting for its end, as after SIGKILL. */
  startApart(client: KubeClient): { abandon(): void };
  /** Ends the hub and waits until it has. */
  stop(): Promise<void>;
  /** Writes the hub's configuration; address and CA are those of the plane unless given. */
  configure(config: HubConfig): Promise<void>;
  /** Requests that the hub's clients made since the first start, but reads, watches, reviews and token checks. */
  writes(): Promise<number>;
  /** Resolves when the hub has made no request for a while. */
  quiet(): Promise<void>;
  /** A client with a bearer token; closed with the hub. */
  asBearer(token: string): KubeClient;
  /** Its log lines. */
  readonly lines: string[];
}

export async function startRunningHub(
  name: string,
  options: { started?: boolean; plane?: ControlPlaneOptions } = {},
): Promise<RunningHub> {
  const hubPlane = await startHubPlane(name, {}, options.plane);
  const { plane, admin } = hubPlane;
  const lines: string[] = [];
  const logger: Logger = createLogger({
    level: (process.env['HUB_LOG'] as 'info' | undefined) ?? 'info',
    write: (line) => lines.push(line),
  });
  let current: { controller: AbortController; running: Promise<void>; client: KubeClient } | undefined;

  const configure = async (config: HubConfig): Promise<void> => {
    const whole = { apiServerURL: plane.server, apiServerCA: Buffer.from(plane.ca).toString('base64'), ...config };
    await admin.apply(
      ConfigMaps,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: configMapNames.hub,
          namespace: systemNamespace,
          annotations: { [annotations.version]: version },
        },
        data: { [configKey]: formatHubConfig(whole) },
      },
      { fieldManager: 'test' },
    );
  };
  const metrics = createMetrics();
  const requests = async (methods: RegExp): Promise<number> => {
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('rest_client_requests_total{'));
    return lines.filter((line) => methods.test(line)).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  const writes = async (): Promise<number> => await requests(/method="(POST|PUT|PATCH|DELETE)"/);
  const quiet = async (): Promise<void> => {
    let last = -1;
    let since = 0;
    const still = async (): Promise<true | undefined> => {
      const count = await requests(/./);
      if (count !== last) since = performance.now();
      last = count;
      return performance.now() - since > 700 ? true : undefined;
    };
    await poll(still, { what: 'the hub to come to rest', limitMs: 30_000 });
  };
  const bearers: KubeClient[] = [];
  const asBearer = (token: string): KubeClient => {
    const client = plane.clientFor(token);
    bearers.push(client);
    return client;
  };
  const stop = async (): Promise<void> => {
    const ending = current;
    current = undefined;
    ending?.controller.abort();
    await ending?.running;
    await ending?.client.close();
  };
  const newHubClient = async (server = plane.server, ca = plane.ca): Promise<KubeClient> => {
    const account = { namespace: systemNamespace, name: hubNames.serviceAccount };
    const { token } = await admin.createToken(account, { expirationSeconds: 3600 });
    return createClient({ server, ca, token, contextName: name }, { userAgent: 'muster-hub', metrics });
  };
  const run = (client: KubeClient, signal: AbortSignal): Promise<void> =>
    runHub({ client, namespace: systemNamespace, logger, leaderElect: false }, signal);
  const start: RunningHub['start'] = async ({ server, ca, client: given } = {}) => {
    const client = given ?? (await newHubClient(server, ca));
    const controller = new AbortController();
    const running = run(client, controller.signal);
    running.catch((error: unknown) => lines.push(`hub ended: ${String(error)}`));
    current = { controller, running, client };
  };
  const startApart: RunningHub['startApart'] = (client) => {
    const controller = new AbortController();
    run(client, controller.signal).catch(() => undefined);
    return { abandon: () => controller.abort() };
  };
  await configure({});
  if (options.started !== false) await start();
  return {
    ...hubPlane,
    start,
    newHubClient: () => newHubClient(),
    startApart,
    stop,
    configure,
    asBearer,
    writes,
    quiet,
    lines,
    async close() {
      await stop().catch(() => undefined);
      await Promise.all(bearers.map((client) => client.close()));
      await hubPlane.close();
    },
  };
}
