/** Sources that never get ready, and kubeconfigs of servers that refuse, hang, or are not trusted; a quarter of each. */
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { inParallel } from '../runtime/kube/in-parallel.ts';
import { Authority } from '../test/harness/pki/authority.ts';
import type { PlayedClusterAPI } from '../test/support/played-cluster-api.ts';
import type { SmallEdges } from '../test/support/small-edges.ts';
import { shortKubeconfig } from '../test/support/small-edges.ts';

export interface BrokenSources {
  readonly names: readonly string[];
  /** Whether each that hangs was tried. */
  tried(): boolean;
  /** Connections for each that hangs, so far; null when none does. */
  connections(): number | null;
  /** Lets the connections go. */
  close(): void;
}

export async function breakSources(
  { edges, capi, workers }: { edges: SmallEdges; capi: PlayedClusterAPI; workers: number },
  prefix: string,
  count: number,
): Promise<BrokenSources> {
  const foreign = Authority.create('foreign').cert;
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const hanging = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const kubeconfigs = [
    shortKubeconfig('https://127.0.0.1:1', foreign),
    shortKubeconfig(hanging, foreign),
    edges.kubeconfig('untrusted', 'x', foreign),
    undefined,
  ];
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  await inParallel(count, workers, async (index) => {
    const kubeconfig = kubeconfigs[index % 4];
    if (kubeconfig === undefined) await capi.create(names[index] ?? '');
    else await capi.provision(names[index] ?? '', kubeconfig);
  });
  const hangs = names.filter((_, index) => index % 4 === 1).length;
  return {
    names,
    tried: () => sockets.size >= hangs,
    connections: () => (hangs === 0 ? null : sockets.size / hangs),
    close() {
      for (const socket of sockets) socket.destroy();
      silent.close();
    },
  };
}
