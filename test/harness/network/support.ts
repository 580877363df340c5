/** Whether a cluster can have a network of its own here. */
import { execFileSync } from 'node:child_process';
import { onPath } from '../binaries.ts';
import { nodeSupport } from '../node/support.ts';
import type { NodeSupport } from '../node/support.ts';

let known: NodeSupport | undefined;

/** Whether an {@link IsolatedNetwork} can be had on this machine; looked at once. It is of use to real nodes only. */
export function isolationSupport(): NodeSupport {
  known ??= judge();
  return known;
}

function judge(): NodeSupport {
  const reason = firstReason();
  return reason === undefined ? { supported: true } : { supported: false, reason };
}

function firstReason(): string | undefined {
  const { supported, reason } = nodeSupport();
  if (!supported) return reason ?? 'no node can run here';
  const packages = { ip: 'iproute2', nsenter: 'util-linux', iptables: 'iptables' } as const;
  // What tools/ can install is not missing.
  const installable = (name: string): boolean => name === 'iptables' && onPath('apt-get') !== undefined;
  const missing = Object.entries(packages).filter(([name]) => onPath(name) === undefined && !installable(name));
  if (missing.length > 0) {
    return `missing programs: ${missing.map(([name, from]) => `${name} (Debian package ${from})`).join(', ')}`;
  }
  return tryNetwork();
}

/** Makes one of each thing that a network is made of, in a namespace that is gone when this returns. */
function tryNetwork(): string | undefined {
  const script = [
    'PATH="$PATH:/usr/sbin:/sbin"',
    'ip link add name probe0 type bridge',
    'ip link add name probe1 type veth peer name probe2',
    'echo 1 > /proc/sys/net/ipv4/ip_forward',
    'command -v iptables > /dev/null || exit 0', // not installed yet; if its modules are missing, the start says so
    'iptables -w -t mangle -A PREROUTING -i probe1 -m conntrack --ctstate NEW -j DROP',
    'iptables -w -t nat -A POSTROUTING -o probe1 -j MASQUERADE',
  ].join('\n');
  try {
    const stdio = ['ignore', 'ignore', 'pipe'] as const;
    execFileSync('unshare', ['--net', 'sh', '-ec', script], { stdio: [...stdio], encoding: 'utf8' });
    return undefined;
  } catch (error) {
    const text = String((error as { stderr?: string }).stderr ?? error);
    return `network namespaces, veth, bridges or iptables are refused here (${text.trim().split('\n')[0] ?? ''})`;
  }
}
