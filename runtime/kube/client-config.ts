/** What is needed to talk to one cluster, after kubeconfig, in-cluster files or arguments have been read. */

/** An exec credential plugin as the kubeconfig names it; run only under the policy `user`. */
export interface ExecPlugin {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** Shown when the command is not there. */
  readonly installHint?: string;
  /** Pass the cluster's address and CA in KUBERNETES_EXEC_INFO. Default: false. */
  readonly provideClusterInfo: boolean;
}

/** Certificates and keys are PEM text; nothing here is base64. Treat the whole object as a secret. */
export interface ClientConfig {
  /** URL without a trailing slash; may carry a path prefix. */
  readonly server: string;
  /** Trusted certificates. Node's own roots when absent. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  /** Read again when it is older than `durations.tokenFileReload` and after a 401: projected tokens rotate. */
  readonly tokenFile?: string;
  readonly exec?: ExecPlugin;
  readonly username?: string;
  readonly password?: string;
  /** Name expected in the server's certificate instead of the URL's host. */
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  /** `http://` or `https://` proxy that the connection is tunnelled through (CONNECT). */
  readonly proxyUrl?: string;
  /** Namespace of the context. */
  readonly namespace?: string;
  readonly contextName: string;
}
