import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { buildPackage } from '../build.ts';
import { ensureTools } from '../ensure-tools.ts';
import { repositoryRoot } from '../repository.ts';
import type { Task } from './task.ts';
import { formatTally, runVitest } from './test.ts';

const usage = `Usage: npm run test:interop -- --fleet-controller PATH --fleet-agent PATH [--fleet-charts DIR] [FILTER…]

Runs muster and Rancher Fleet against each other on real control planes. It needs Fleet's programs, already built:

  --fleet-controller PATH   fleetcontroller of Fleet
  --fleet-agent PATH        fleetagent of Fleet
  --fleet-charts DIR        its folder with the charts fleet, fleet-crd and fleet-agent
                            (default: the folder charts beside the controller's; without one, what the charts
                            would make is written out by the suite)
  FILTER                    runs the files whose name contains it: fleet-agent, fleet-hub, takeover, pulumi
`;

/** What the suite is given. */
export interface InteropOptions {
  readonly controller: string;
  readonly agent: string;
  readonly charts: string | undefined;
  readonly filters: readonly string[];
}

/** Throws an Error that says what is missing or not a program. */
export function parseInterop(args: readonly string[], startedIn: string): InteropOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      'fleet-controller': { type: 'string' },
      'fleet-agent': { type: 'string' },
      'fleet-charts': { type: 'string' },
    },
  });
  const program = (name: 'fleet-controller' | 'fleet-agent'): string => {
    const given = values[name];
    if (!given) throw new Error(`--${name} is missing`);
    const path = resolve(startedIn, given);
    if (!isProgram(path)) throw new Error(`--${name}: ${given} is not a program`);
    return path;
  };
  const controller = program('fleet-controller');
  const agent = program('fleet-agent');
  const given = values['fleet-charts'];
  const charts = given === undefined ? join(dirname(dirname(controller)), 'charts') : resolve(startedIn, given);
  const found = isFolder(join(charts, 'fleet')) && isFolder(join(charts, 'fleet-agent'));
  if (given !== undefined && !found) throw new Error(`--fleet-charts: ${given} has no charts fleet and fleet-agent`);
  return { controller, agent, charts: found ? charts : undefined, filters: positionals };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** `npm run test:interop`: exit code 2 says that it was not given what it needs. */
export const interopTask: Task = async (args, reporter) => {
  let options: InteropOptions;
  try {
    // npm runs its scripts in the package's folder; paths are meant from where the user is
    options = parseInterop(args, process.env['INIT_CWD'] ?? process.cwd());
  } catch (error) {
    process.stderr.write(`✗ ${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  await buildPackage(reporter);
  await ensureTools(['etcd', 'kube-apiserver', 'kube-controller-manager', 'helm'], reporter);
  const config = join(repositoryRoot, 'test', 'interop', 'vitest.config.ts');
  const tally = await runVitest(['--config', config, ...options.filters], {
    MUSTER_INTEROP_FLEET_CONTROLLER: options.controller,
    MUSTER_INTEROP_FLEET_AGENT: options.agent,
    MUSTER_INTEROP_FLEET_CHARTS: options.charts ?? '',
  });
  process.stdout.write(`\n${formatTally(tally)}\n`);
  return tally.failed === 0 && tally.passed > 0 ? 0 : 1;
};
