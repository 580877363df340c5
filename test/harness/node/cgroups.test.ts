import { describe, expect, it } from 'vitest';
import { hierarchies } from './cgroups.ts';

const mount = (point: string, type: string, options: string, root = '/') =>
  `32 31 0:29 ${root} /sys/fs/cgroup${point} rw,relatime shared:9 - ${type} cgroup rw,${options}`;

describe('hierarchies', () => {
  it('finds each v1 hierarchy, also co-mounted and named ones, and leaves out an empty v2 beside them', () => {
    const mounts = [
      mount('/cpu,cpuacct', 'cgroup', 'cpu,cpuacct'),
      mount('/memory', 'cgroup', 'memory'),
      mount('/systemd', 'cgroup', 'xattr,release_agent=/lib/systemd/agent,name=systemd'),
      mount('/unified', 'cgroup2', 'nsdelegate'),
      '23 1 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw',
    ].join('\n');
    const own = '4:memory:/caller\n3:cpuacct,cpu:/\n1:name=systemd:/user:odd\n0::/\n';

    expect(hierarchies(mounts, own, () => false)).toEqual([
      {
        version: 1,
        mountPoint: '/sys/fs/cgroup/cpu,cpuacct',
        options: 'cpu,cpuacct',
        own: '/sys/fs/cgroup/cpu,cpuacct',
      },
      { version: 1, mountPoint: '/sys/fs/cgroup/memory', options: 'memory', own: '/sys/fs/cgroup/memory/caller' },
      {
        version: 1,
        mountPoint: '/sys/fs/cgroup/systemd',
        options: 'none,name=systemd',
        own: '/sys/fs/cgroup/systemd/user:odd',
      },
    ]);
  });

  it('finds the one v2 hierarchy', () => {
    expect(hierarchies(mount('', 'cgroup2', 'nsdelegate'), '0::/user.slice/run.scope\n', () => true)).toEqual([
      { version: 2, mountPoint: '/sys/fs/cgroup', options: '', own: '/sys/fs/cgroup/user.slice/run.scope' },
    ]);
  });

  it('takes the root of a mount off its own path, as in a container without a cgroup namespace', () => {
    const mounts = mount('/memory', 'cgroup', 'memory', '/docker/abc');

    expect(hierarchies(mounts, '4:memory:/docker/abc/test\n')[0]?.own).toBe('/sys/fs/cgroup/memory/test');
  });
});
