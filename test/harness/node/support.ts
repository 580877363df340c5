/** Whether a real node can run here. */
import { execFileSync } from 'node:child_process';
import { onPath } from '../binaries.ts';
import { tryCgroups } from './cgroups.ts';

/** The answer, with the reason when it is no. */
export interface NodeSupport {
  readonly supported: boolean;
  /** One line: what is missing. */
  readonly reason?: string;
}

let known: NodeSupport | undefined;

/** Whether a {@link Node} can run on this machine; looked at once. Where it cannot, a ProcessRunner takes its place. */
export function nodeSupport(): NodeSupport {
  known ??= judge();
  return known;
}

function judge(): NodeSupport {
  const reason = firstReason();
  return reason === undefined ? { supported: true } : { supported: false, reason };
}

function firstReason(): string | undefined {
  if (process.env['MUSTER_NO_NODE'] === '1') return 'MUSTER_NO_NODE=1 is set';
  if (process.platform !== 'linux') return `a node needs Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'a node needs root';
  const missing = ['unshare', 'mount', 'umount'].filter((name) => onPath(name) === undefined);
  if (missing.length > 0) return `missing programs: ${missing.join(', ')} (Debian package util-linux)`;
  // What tools/ can install is not missing.
  const installable = onPath('apt-get') !== undefined;
  const wanted = ['containerd', 'ctr', 'runc'].filter((name) => onPath(name) === undefined);
  if (wanted.length > 0 && !installable) return `missing programs: ${wanted.join(', ')}`;
  return tryCgroups() ?? tryMounts();
}

/** Namespaces and mounts are refused in many containers, also to root. */
function tryMounts(): string | undefined {
  const script = 'mount -t tmpfs tmpfs /mnt && mount --make-rshared /';
  const args = ['--mount', '--cgroup', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', script];
  try {
    execFileSync('unshare', args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
    return undefined;
  } catch (error) {
    const text = String((error as { stderr?: string }).stderr ?? error);
    return `namespaces or mounts are refused here (${text.trim().split('\n')[0] ?? ''})`;
  }
}
