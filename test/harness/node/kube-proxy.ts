/** The kube-proxy of a node on a network of its own: without it no pod finds the API server at its usual address. */
import { dirname } from 'node:path';

/** Its command line; `iptables` is the program's path. No secret is in it. */
export function kubeProxyCommand(kubeProxy: string, iptables: string, address: string, kubeconfig: string): string[] {
  return [
    'env',
    `PATH=${process.env['PATH'] ?? ''}:${dirname(iptables)}`,
    kubeProxy,
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${address}`,
    '--proxy-mode=iptables',
    // These are settings of the machine, not of the namespace; 0 leaves them alone.
    '--conntrack-max-per-core=0',
    '--conntrack-tcp-timeout-established=0s',
    '--conntrack-tcp-timeout-close-wait=0s',
    '--metrics-bind-address=127.0.0.1:10249',
    '--healthz-bind-address=127.0.0.1:10256',
  ];
}
