import { join } from 'node:path';
import process from 'node:process';
import { cacheDir } from '../cache.ts';
import { exec, type ExecResult } from '../exec.ts';
import { acquireLock } from '../lock.mjs';
import { findOnPath, type Found } from '../on-path.ts';
import type { ToolName } from '../programs.ts';
import type { Reporter } from '../progress.ts';
import { ToolError } from '../tool-error.ts';

/** Debian's package of each program. */
const packages: Readonly<Partial<Record<ToolName, string>>> = {
  containerd: 'containerd',
  runc: 'runc',
  cni: 'containernetworking-plugins',
  busybox: 'busybox-static',
  iptables: 'iptables',
  conntrack: 'conntrack',
};

/** How long apt waits for another apt of this machine, in seconds. */
const aptLockSeconds = 120;

async function checkDebian(what: string, names: string): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  // `--version` asks whether there is an apt-get at all.
  if (isRoot && (await exec('apt-get', ['--version'])).code === 0) return;
  throw new ToolError('NOT_INSTALLED', 'not on PATH, and only root on Debian can have it installed from here', {
    what,
    hint: `Install ${names} with your system's package manager.`,
  });
}

function failure(what: string, result: ExecResult): ToolError {
  const lines = result.stderr.trim().split('\n').slice(-5).join('\n');
  const unreachable = /Could not resolve|Temporary failure|Failed to fetch|Unable to (connect|locate)/.test(lines);
  return new ToolError(
    unreachable ? 'REGISTRY_UNREACHABLE' : 'BUILD_FAILED',
    `apt-get ended with code ${result.code}\n${lines}\n`,
    { what, hint: 'Look at your network and at the sources of apt, or install the packages by hand.' },
  );
}

/** Installs the Debian packages of `names` (root on Debian only) and finds the programs. */
export async function installDebian(
  names: readonly ToolName[],
  reporter: Reporter,
): Promise<ReadonlyMap<ToolName, Found>> {
  const wanted = names.map((name) => packages[name] ?? name);
  const what = names.join(', ');
  await checkDebian(what, wanted.join(', '));
  const release = await acquireLock(join(cacheDir(), 'locks', 'debian.lock'), {
    onWait: (pid) => reporter.info(`… ${what}: waiting for process ${pid}, which installs packages`),
  });
  try {
    const before = await findOnPath(names);
    if (before.size === names.length) return before;
    const step = reporter.step(`Debian packages ${wanted.join(', ')}`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const options = ['-q', '-o', `DPkg::Lock::Timeout=${aptLockSeconds}`];
    step.update('reading package lists');
    // A machine with lists that are old but good enough must not fail here: the installation tells.
    await exec('apt-get', [...options, 'update'], { env });
    step.update('installing');
    const result = await exec('apt-get', [...options, 'install', '-y', '--no-install-recommends', ...wanted], { env });
    if (result.code !== 0) {
      step.fail();
      throw failure(what, result);
    }
    step.done();
    const after = await findOnPath(names);
    for (const name of names) {
      if (!after.has(name))
        throw new ToolError('NOT_INSTALLED', 'installed, but not in a usable version', { what: name });
    }
    return after;
  } finally {
    await release();
  }
}
