/**
 * The cgroups of a node: its own child below each hierarchy, so that two nodes do not share `/kubepods` and so that pods
 * stay within the limits of the caller's group. Knows v1 (also co-mounted and hybrid) and v2.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** One mounted hierarchy and where this process is in it. */
export interface Hierarchy {
  readonly version: 1 | 2;
  /** Where it is mounted, as in `/sys/fs/cgroup/memory`. */
  readonly mountPoint: string;
  /** Mount options that select it: `cpu,cpuacct` or `none,name=systemd`; empty for v2. */
  readonly options: string;
  /** The folder of this process's own cgroup. */
  readonly own: string;
}

/** What kubelet needs at least; the rest (hugetlb, io, …) it takes when it is there. */
const neededControllers = ['cpu', 'memory', 'pids'];

/**
 * The hierarchies of this machine, from /proc/self/mountinfo and /proc/self/cgroup (proc(5), cgroups(7)). A v2 hierarchy
 * beside v1 ones (hybrid) is left out when it has no controllers.
 */
export function hierarchies(mountInfo: string, selfCgroup: string, hasControllers = v2HasControllers): Hierarchy[] {
  const paths = new Map<string, string>();
  for (const line of selfCgroup.split('\n').filter(Boolean)) {
    const [, names = '', ...path] = line.split(':');
    for (const name of names.split(',')) paths.set(name, path.join(':'));
  }
  return cgroupMounts(mountInfo).flatMap(({ root, mountPoint, type, superOptions }): Hierarchy[] => {
    const own = (path: string): string => join(mountPoint, path.startsWith(root) ? path.slice(root.length) : path);
    if (type === 'cgroup2') {
      if (!hasControllers(mountPoint)) return [];
      return [{ version: 2, mountPoint, options: '', own: own(paths.get('') ?? '/') }];
    }
    const names = superOptions.split(',').filter((name) => !isPlainOption(name));
    const path = names.map((name) => paths.get(name)).find((known) => known !== undefined);
    if (path === undefined) return [];
    const options = names.every((name) => name.startsWith('name=')) ? ['none', ...names] : names;
    return [{ version: 1, mountPoint, options: options.join(','), own: own(path) }];
  });
}

/** Mount options that are not controllers. */
function isPlainOption(name: string): boolean {
  return ['rw', 'ro', 'xattr', 'noprefix', 'clone_children'].includes(name) || name.startsWith('release_agent');
}

interface CgroupMount {
  readonly root: string;
  readonly mountPoint: string;
  readonly type: string;
  readonly superOptions: string;
}

function cgroupMounts(mountInfo: string): CgroupMount[] {
  return mountInfo.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '/', mountPoint = ''] = before.split(' ');
    const [type = '', , superOptions = ''] = after.split(' ');
    const counts = type.startsWith('cgroup') && mountPoint.startsWith('/sys/fs/cgroup');
    return counts ? [{ root, mountPoint, type, superOptions }] : [];
  });
}

/** The hierarchies as they are now. */
export function currentHierarchies(): Hierarchy[] {
  return hierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'));
}

/** Mount points below /sys/fs/cgroup that must go before the node's own are mounted (the empty v2 of a hybrid too). */
export function cgroupMountPoints(mountInfo = readFileSync('/proc/self/mountinfo', 'utf8')): string[] {
  return cgroupMounts(mountInfo).map(({ mountPoint }) => mountPoint);
}

/**
 * Where a node's cgroup goes in each hierarchy: below this process's own. In v2 a group that has processes cannot hand
 * controllers to children, so there it is the nearest ancestor that already does.
 *
 * @returns one folder for each hierarchy, or why there is no place.
 */
export function nodeCgroups(name: string, all = currentHierarchies()): string[] | { readonly reason: string } {
  if (all.length === 0) return { reason: 'no cgroup hierarchy is mounted below /sys/fs/cgroup' };
  const places: string[] = [];
  for (const hierarchy of all) {
    const parent = hierarchy.version === 1 ? hierarchy.own : delegatingAncestor(hierarchy);
    if (parent === undefined) {
      return { reason: `cgroup v2 hands no ${neededControllers.join(', ')} controllers to children here` };
    }
    places.push(join(parent, name));
  }
  return places;
}

function delegatingAncestor(hierarchy: Hierarchy): string | undefined {
  for (let folder = hierarchy.own; folder.startsWith(hierarchy.mountPoint); folder = dirname(folder)) {
    const given = words(join(folder, 'cgroup.subtree_control'));
    if (neededControllers.every((name) => given.includes(name))) return folder;
  }
  return undefined;
}

function v2HasControllers(mountPoint: string): boolean {
  return words(join(mountPoint, 'cgroup.controllers')).includes('memory');
}

/** Makes the folders of {@link nodeCgroups}. */
export function makeCgroups(folders: readonly string[]): void {
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    // A new v1 cpuset has no processors and no memory nodes, and takes no process until it has.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const from = join(dirname(folder), file);
      const isV1 = !existsSync(join(folder, 'cgroup.controllers'));
      if (isV1 && existsSync(from)) writeFileSync(join(folder, file), readFileSync(from, 'utf8').trim());
    }
  }
}

/** Tries whether cgroups can be made here at all; the reason when not. */
export function tryCgroups(): string | undefined {
  const folders = nodeCgroups(`muster-probe-${process.pid}`);
  if ('reason' in folders) return folders.reason;
  try {
    makeCgroups(folders);
    return undefined;
  } catch (error) {
    return `cgroups cannot be made here (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
  } finally {
    for (const folder of folders) {
      try {
        rmdirSync(folder);
      } catch {
        // was not made
      }
    }
  }
}

function words(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split(/\s+/);
  } catch {
    return [];
  }
}
