/**
 * What runs inside a node's namespaces. A shell, because it is the first process of a pid namespace: it must exist before
 * anything else there, join cgroups, mount, start two programs and collect orphans, and it costs a megabyte.
 */
import type { Hierarchy } from './cgroups.ts';

/** What the scripts are written from. */
export interface ScriptInput {
  readonly dir: string;
  readonly address: string;
  readonly cgroups: readonly string[];
  readonly hierarchies: readonly Hierarchy[];
  /** Mounts to take away before the node's own view of the hierarchies is mounted. */
  readonly cgroupMountPoints: readonly string[];
  readonly containerd: string;
  readonly ctr: string;
  readonly kubelet: string;
  /** Command line that makes Services work; a node on the machine's network has none. */
  readonly kubeProxy?: readonly string[];
}

/** First process of the pid namespace: joins the node's cgroups, then gets a cgroup namespace whose root they are. */
export function joinScript(input: ScriptInput): string {
  const joins = input.cgroups.map((folder) => `echo $$ > ${quote(folder)}/cgroup.procs`);
  return ['set -e', ...joins, `exec unshare --cgroup sh ${quote(`${input.dir}/inner.sh`)}`, ''].join('\n');
}

/**
 * kubelet writes these on every start. They are the machine's, and a node of a test must not change the machine: in the
 * node's mount namespace plain files that already hold what kubelet wants lie over them.
 */
const sysctls = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
} as const;

/** Folders at fixed paths that nodes of one machine would otherwise share. */
const privateFolders = ['/run/containerd', '/run/netns', '/var/lib/cni', '/var/lib/kubelet', '/var/log/containers'];

/** Mounts, containerd, images, kubelet. Ends when kubelet ends, and the namespace with it. */
export function innerScript(input: ScriptInput): string {
  const dir = quote(input.dir);
  const socket = quote(`${input.dir}/containerd.sock`);
  const lines = ['set -e', `cd ${dir}`, 'mount --make-rprivate /', ...cgroupMounts(input)];
  for (const [index, [name, value]] of Object.entries(sysctls).entries()) {
    lines.push(
      `if [ -e /proc/sys/${name} ]; then echo ${value} > sysctl.${index}; mount --bind sysctl.${index} /proc/sys/${name}; fi`,
    );
  }
  for (const folder of privateFolders) lines.push(`mkdir -p ${folder}; mount -t tmpfs tmpfs ${folder}`);
  lines.push(
    'mount --make-rshared /', // kubelet shares volume mounts with containers
    'rm -f containerd.sock',
    `${quote(input.containerd)} -c containerd.toml >> containerd.log 2>&1 &`,
    'containerd=$!',
    `until ${quote(input.ctr)} -a ${socket} version > /dev/null 2>&1; do kill -0 $containerd; sleep 0.05; done`,
    // All at once: decompression and writing of one overlap with those of another.
    `imports=''`,
    'while read -r archive; do',
    `  ${quote(input.ctr)} -a ${socket} -n k8s.io images import "$archive" >> import.log 2>&1 & imports="$imports $!"`,
    'done < images',
    'for import in $imports; do wait $import; done',
    ...(input.kubeProxy === undefined ? [] : [`${input.kubeProxy.map(quote).join(' ')} >> kube-proxy.log 2>&1 &`]),
    ': > images', // they stay in the node's folder: a restart need not import them again
    `${quote(input.kubelet)} --config=kubelet.json --kubeconfig=kubelet.kubeconfig --hostname-override=${input.address} \\`,
    `  --root-dir=${dir}/kubelet --cert-dir=${dir}/kubelet/pki --v=1 >> kubelet.log 2>&1 &`,
    'wait $!',
    '',
  );
  return lines.join('\n');
}

function cgroupMounts(input: ScriptInput): string[] {
  // Deepest first: on v1 the hierarchies lie below a tmpfs that stays.
  const away = [...input.cgroupMountPoints].reverse().map((point) => `umount ${quote(point)}`);
  const own = input.hierarchies.flatMap(({ version, mountPoint, options }) =>
    version === 1
      ? [`mount -t cgroup -o ${options} cgroup ${quote(mountPoint)}`]
      : [
          `mount -t cgroup2 cgroup2 ${quote(mountPoint)}`,
          // A v2 group with processes hands out no controllers: leave the root of the namespace empty.
          `mkdir -p ${quote(mountPoint)}/init; echo $$ > ${quote(mountPoint)}/init/cgroup.procs`,
        ],
  );
  return [...away, ...own];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
