/** A whole cluster on this machine: a control plane, and a real node or, where none can run, a process runner. */
import { ControlPlane } from './control-plane/control-plane.ts';
import type { Claim } from './run/claims.ts';
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
}

/** A running cluster. */
export interface LocalCluster extends AsyncDisposable {
  readonly name: string;
  readonly plane: ControlPlane;
  /** Which of the two runs its pods. */
  readonly worker: Node | ProcessRunner;
  /** Loopback address that its pods may listen on without meeting pods of other clusters (Linux; else 127.0.0.1). */
  readonly address: string;
  close(): Promise<void>;
}

/** Starts one; resolves when its node is Ready and Deployments turn into pods. */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const { name, port } = options;
  const plane = await ControlPlane.start({ name, ...(port === undefined ? {} : { port }) });
  let worker: Node | ProcessRunner | undefined;
  const close = async (): Promise<void> => {
    await worker?.close();
    await plane.close();
  };
  try {
    const isReal = options.node ?? nodeSupport().supported;
    [worker] = await Promise.all([
      isReal
        ? Node.start(plane, { images: options.images ?? [] })
        : ProcessRunner.start(plane, { images: options.processImages ?? {} }),
      plane.whenWorking(),
    ]);
  } catch (error) {
    await close();
    throw error;
  }
  const address = worker instanceof Node ? worker.name : worker.address;
  return { name, plane, worker, address, close, [Symbol.asyncDispose]: close };
}
