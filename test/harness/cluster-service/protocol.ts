/** What the cluster service and its callers say to each other: JSON over HTTP on a Unix socket. */

/** Body of `PUT /clusters/NAME`; may be absent. What is absent is as the service was started. */
export interface ClusterSpec {
  /** True: a real node. False: a process runner. */
  readonly node?: boolean;
  /** Paths of image archives for a real node. */
  readonly images?: readonly string[];
}

/** A cluster that is Ready. */
export interface ClusterAnswer {
  readonly name: string;
  /** Of an admin. */
  readonly kubeconfig: string;
  /** `https://127.0.0.1:PORT` */
  readonly server: string;
  readonly worker: 'node' | 'process-runner';
  /** Where pods on the host's network may listen without meeting those of other clusters. */
  readonly address: string;
}

/** One line of `GET /clusters`: no credentials. */
export interface ClusterLine {
  readonly name: string;
  readonly state: 'starting' | 'ready' | 'stopping';
  readonly server?: string;
}

/** Body of every answer of 400 and above. */
export interface ServiceError {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
}
