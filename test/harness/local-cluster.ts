/** A whole cluster on this machine: a control plane, and a real node or, where none can run, a process runner. */
import { ControlPlane } from './control-plane/control-plane.ts';
import type { Claim } from './run/claims.ts';
import { IsolatedNetwork } from './network/isolated-network.ts';
import type { NetworkOptions } from './network/isolated-network.ts';
import { Node } from './node/node.ts';
import { nodeSupport } from './node/support.ts';
import { ProcessRunner } from './process-runner/process-runner.ts';
import type { ProcessImage } from './process-runner/environment.ts';

/** What a cluster is made with. */
export interface LocalClusterOptions {
  readonly name: string;
  /** True: a real node. False: a process runner. Default: a real node where one can run. */
  readonly node?: boolean;
  /** For a real node: paths of OCI image archives. */
  readonly images?: readonly string[];
  /** For a process runner: what stands for each image. */
  readonly processImages?: Readonly<Record<string, ProcessImage>>;
  /** Port of its API server, for those who must know the address before the start. Default: any free one. */
  readonly port?: Claim<number>;
  /**
   * Puts it on a network of its own that nobody can reach from outside, with real pod addresses and Services; needs a
   * real node. Default: the machine's network.
   */
  readonly network?: NetworkOptions;
}

/** A running cluster. */
export interface LocalCluster extends AsyncDisposable {
  readonly name: string;
  readonly plane: ControlPlane;
  /** Which of the two runs its pods. */
  readonly worker: Node | ProcessRunner;
  /**
   * Address that its pods on the host's network may listen on without meeting pods of other clusters: of loopback
   * (Linux; else 127.0.0.1), or of its own network.
   */
  readonly address: string;
  /** Its own network, when it was asked for: cut it, heal it. */
  readonly network: IsolatedNetwork | undefined;
  close(): Promise<void>;
}

/** Starts one; resolves when its node is Ready and Deployments turn into pods. */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const { name, port } = options;
  const network = options.network === undefined ? undefined : await IsolatedNetwork.start(options.network);
  let plane: ControlPlane | undefined;
  let worker: Node | ProcessRunner | undefined;
  const close = async (): Promise<void> => {
    await worker?.close();
    await plane?.close();
    await network?.close();
  };
  try {
    plane = await ControlPlane.start({
      name,
      ...(port === undefined ? {} : { port }),
      ...(network === undefined ? {} : { network }),
    });
    const isReal = network !== undefined || (options.node ?? nodeSupport().supported);
    [worker] = await Promise.all([
      isReal
        ? Node.start(plane, { images: options.images ?? [] })
        : ProcessRunner.start(plane, { images: options.processImages ?? {} }),
      plane.whenWorking(),
    ]);
    const address = worker instanceof Node ? worker.name : worker.address;
    return { name, plane, worker, address, network, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
