import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { buildPackage } from '../build.ts';
import { ensureTools } from '../ensure-tools.ts';
import { repositoryRoot } from '../repository.ts';
import type { Task } from './task.ts';
import { formatTally, runVitest } from './test.ts';

const usage = `Usage: npm run test:interop -- PROGRAMS… [FILTER…]

Runs muster beside Rancher Fleet, and under Flux, on real control planes. It needs their programs, already built: those of
Fleet, or of Flux, or of both.

  --fleet-controller PATH   fleetcontroller of Fleet
  --fleet-agent PATH        fleetagent of Fleet
  --fleet-charts DIR        its folder with the charts fleet, fleet-crd and fleet-agent
                            (default: the folder charts beside the controller's; without one, what the charts
                            would make is written out by the suite)
  --flux-controller PATH    kustomize-controller of Flux
  --flux-crds PATH          definitions of Flux: a folder or file, may be given several times; kinds Kustomization,
                            GitRepository, OCIRepository, Bucket and ExternalArtifact
  FILTER                    runs the files whose name contains it: fleet-agent, fleet-hub, takeover, pulumi, flux
`;

/** What the suite is given; one of the two at least. */
export interface InteropOptions {
  readonly fleet?: { readonly controller: string; readonly agent: string; readonly charts: string | undefined };
  readonly flux?: { readonly controller: string; readonly crds: readonly string[] };
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
      'flux-controller': { type: 'string' },
      'flux-crds': { type: 'string', multiple: true },
    },
  });
  const program = (name: 'fleet-controller' | 'fleet-agent' | 'flux-controller'): string => {
    const given = values[name];
    if (!given) throw new Error(`--${name} is missing`);
    const path = resolve(startedIn, given);
    if (!isProgram(path)) throw new Error(`--${name}: ${given} is not a program`);
    return path;
  };
  const fleet = () => {
    const controller = program('fleet-controller');
    const agent = program('fleet-agent');
    const given = values['fleet-charts'];
    const charts = given === undefined ? join(dirname(dirname(controller)), 'charts') : resolve(startedIn, given);
    const found = isFolder(join(charts, 'fleet')) && isFolder(join(charts, 'fleet-agent'));
    if (given !== undefined && !found) throw new Error(`--fleet-charts: ${given} has no charts fleet and fleet-agent`);
    return { controller, agent, charts: found ? charts : undefined };
  };
  const flux = () => {
    const controller = program('flux-controller');
    const given = values['flux-crds'] ?? [];
    if (given.length === 0) throw new Error('--flux-crds is missing');
    const crds = given.map((path) => resolve(startedIn, path));
    const none = crds.findIndex((path) => statSync(path, { throwIfNoEntry: false }) === undefined);
    if (none >= 0) throw new Error(`--flux-crds: ${given[none] ?? ''} does not exist`);
    return { controller, crds };
  };
  const hasFlux = values['flux-controller'] !== undefined || values['flux-crds'] !== undefined;
  const hasFleet = Object.keys(values).some((name) => name.startsWith('fleet-'));
  return {
    ...(hasFleet || !hasFlux ? { fleet: fleet() } : {}),
    ...(hasFlux ? { flux: flux() } : {}),
    filters: positionals,
  };
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
  await ensureTools(['etcd', 'kube-apiserver', 'kube-controller-manager', 'helm', 'kubectl'], reporter);
  const config = join(repositoryRoot, 'test', 'interop', 'vitest.config.ts');
  const { fleet, flux, filters } = options;
  const tally = await runVitest(['--config', config, ...filters], {
    MUSTER_INTEROP_FLEET_CONTROLLER: fleet?.controller ?? '',
    MUSTER_INTEROP_FLEET_AGENT: fleet?.agent ?? '',
    MUSTER_INTEROP_FLEET_CHARTS: fleet?.charts ?? '',
    MUSTER_INTEROP_FLUX_CONTROLLER: flux?.controller ?? '',
    MUSTER_INTEROP_FLUX_CRDS: (flux?.crds ?? []).join(delimiter),
  });
  process.stdout.write(`\n${formatTally(tally)}\n`);
  return tally.failed === 0 && tally.passed > 0 ? 0 : 1;
};
