/** The configuration files of kubelet and containerd, and the CNI networks of nodes. */
import { join } from 'node:path';
import { podRange } from '../network/layout.ts';

/** Ports on the node's own address; the same on every node, since no two share an address. */
export const kubeletPort = 10250;
export const healthPort = 10248;

/** What the files are written from. */
export interface NodePaths {
  readonly dir: string;
  /** The node's name, and the address it listens on. */
  readonly address: string;
  readonly runc: string;
  /** Folder of the CNI plugins. */
  readonly cni: string;
  readonly snapshotter: string;
  readonly pauseImage: string;
}

/** KubeletConfiguration (kubelet.config.k8s.io/v1beta1); JSON is YAML. */
export function kubeletConfiguration(node: NodePaths): string {
  const at = (name: string): string => join(node.dir, name);
  return JSON.stringify(
    {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      address: node.address,
      port: kubeletPort,
      readOnlyPort: 0,
      healthzBindAddress: node.address,
      healthzPort: healthPort,
      tlsCertFile: at('kubelet.crt'),
      tlsPrivateKeyFile: at('kubelet.key'),
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: at('ca.crt') },
      },
      authorization: { mode: 'Webhook' },
      // Kubernetes refuses cgroup v1 since 1.35 unless told otherwise; many machines still have it.
      failCgroupV1: false,
      failSwapOn: false,
      cgroupDriver: 'cgroupfs', // no systemd in the node's namespaces
      containerRuntimeEndpoint: `unix://${at('containerd.sock')}`,
      clusterDNS: [],
      clusterDomain: 'cluster.local',
      resolvConf: at('resolv.conf'),
      podLogsDir: at('pods'),
      volumePluginDir: at('plugins'),
      makeIPTablesUtilChains: false, // the machine's firewall is not ours
      // A test must not lose images or pods because the machine's disk is fairly full.
      imageGCHighThresholdPercent: 100,
      imageGCLowThresholdPercent: 99,
      evictionHard: {
        'memory.available': '100Mi',
        'nodefs.available': '1%',
        'nodefs.inodesFree': '1%',
        'imagefs.available': '1%',
        'imagefs.inodesFree': '1%',
      },
      serializeImagePulls: false,
      nodeStatusUpdateFrequency: '10s',
      syncFrequency: '10s',
      registerNode: true,
    },
    undefined,
    2,
  );
}

/** containerd's configuration, version 2: read by 1.6 as well as 2.x. */
export function containerdConfiguration(node: NodePaths): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  const unused = ['snapshotter.v1.aufs', 'snapshotter.v1.btrfs', 'snapshotter.v1.devmapper', 'snapshotter.v1.zfs'];
  return `version = 2
root = "${node.dir}/containerd"
state = "/run/containerd"
oom_score = 0
disabled_plugins = ${JSON.stringify(unused.map((name) => `io.containerd.${name}`))}
[grpc]
  address = "${node.dir}/containerd.sock"
[${cri}]
  sandbox_image = "${node.pauseImage}"
  stream_server_address = "${node.address}"
  stream_server_port = "0"
  disable_apparmor = true
  # Root in a container may lack CAP_SYS_RESOURCE, and then no process may lower its oom_score_adj.
  restrict_oom_score_adj = true
  [${cri}.cni]
    bin_dir = "${node.cni}"
    conf_dir = "${node.dir}/cni"
  [${cri}.containerd]
    snapshotter = "${node.snapshotter}"
  [${cri}.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [${cri}.containerd.runtimes.runc.options]
      BinaryName = "${node.runc}"
      SystemdCgroup = false
`;
}

/** Kubelet calls a node Ready only when there is some network; pods on the host's network never use it. */
export const loopbackNetwork = JSON.stringify({ cniVersion: '1.0.0', name: 'lo', plugins: [{ type: 'loopback' }] });

/** Pods with addresses of their own, on a bridge that is their way out; for a node on a network of its own. */
export function bridgeNetwork(dir: string): string {
  const ipam = {
    type: 'host-local',
    dataDir: join(dir, 'ipam'),
    ranges: [[{ subnet: podRange }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, hairpinMode: true, ipMasq: false, ipam };
  return JSON.stringify({ cniVersion: '1.0.0', name: 'pods', plugins: [bridge] });
}
