/** The command line of each component. Later flags win, so a caller's own come last. */
import { nodeAddress } from '../network/layout.ts';
import { serviceRange } from './files.ts';
import type { PlaneFiles } from './files.ts';

/** The programs that a control plane is made of. */
export type Component = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

/** The port of each component on 127.0.0.1; etcd has a second one for peers. */
export type PlanePorts = Readonly<Record<Component | 'etcd-peer', number>>;

/** An apiserver on a network of its own: the address that pods find behind the Service `kubernetes`. */
export const advertised = ['--bind-address=0.0.0.0', `--advertise-address=${nodeAddress}`];

/** The arguments of a component. */
export function argumentsOf(component: Component, files: PlaneFiles, ports: PlanePorts): string[] {
  switch (component) {
    case 'etcd':
      return etcd(files, ports);
    case 'kube-apiserver':
      return apiServer(files, ports);
    case 'kube-controller-manager':
      return controllerManager(files, ports);
    case 'kube-scheduler':
      return [`--kubeconfig=${files.path('kubeconfig')}`, ...serving(files, ports[component])];
  }
}

function etcd(files: PlaneFiles, ports: PlanePorts): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports['etcd-peer']}`;
  return [
    `--data-dir=${files.path('etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--force-new-cluster', // a folder started again may have other ports; it is the only member in any case
    '--unsafe-no-fsync', // a test's data need not survive a power cut
    '--log-level=warn',
  ];
}

function apiServer(files: PlaneFiles, ports: PlanePorts): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    `--secure-port=${ports['kube-apiserver']}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--tls-cert-file=${files.path('apiserver.crt')}`,
    `--tls-private-key-file=${files.path('apiserver.key')}`,
    `--client-ca-file=${files.path('ca.crt')}`,
    `--token-auth-file=${files.path('tokens.csv')}`,
    '--enable-bootstrap-token-auth=true',
    '--authorization-mode=Node,RBAC',
    `--service-cluster-ip-range=${serviceRange}`,
    `--service-account-key-file=${files.path('service-account.pub')}`,
    `--service-account-signing-key-file=${files.path('service-account.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--allow-privileged=true',
    // Without it an apiserver that is asked to end keeps open watches for a minute, long after it stopped listening.
    '--shutdown-watch-termination-grace-period=1s',
    `--kubelet-client-certificate=${files.path('kubelet-client.crt')}`,
    `--kubelet-client-key=${files.path('kubelet-client.key')}`,
  ];
}

function controllerManager(files: PlaneFiles, ports: PlanePorts): string[] {
  return [
    `--kubeconfig=${files.path('kubeconfig')}`,
    ...serving(files, ports['kube-controller-manager']),
    `--root-ca-file=${files.path('ca.crt')}`,
    `--service-account-private-key-file=${files.path('service-account.key')}`,
    // For this signer alone: each of the four watches its files, and a user has 128 inotify instances on most machines.
    `--cluster-signing-kube-apiserver-client-cert-file=${files.path('ca.crt')}`,
    `--cluster-signing-kube-apiserver-client-key-file=${files.path('ca.key')}`,
    '--use-service-account-credentials=true',
    // Each of its 45 controllers first asks for a ServiceAccount and a token; at the default 20 requests a second that
    // keeps the first Pod waiting for 5 s.
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
    // As kubeadm: bootstrap tokens are signed for in cluster-info, and removed when they expire.
    '--controllers=*,bootstrap-signer-controller,token-cleaner-controller',
  ];
}

/** One instance each, so a lease would only delay the start. */
function serving(files: PlaneFiles, port: number): string[] {
  return [
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--leader-elect=false',
    // The apiserver's own certificate is as good here, and spares each of them making an RSA key at start.
    `--tls-cert-file=${files.path('apiserver.crt')}`,
    `--tls-private-key-file=${files.path('apiserver.key')}`,
  ];
}
