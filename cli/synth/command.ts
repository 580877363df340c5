/** `muster synth`: the manifests as YAML or as Helm charts, for those who commit them or apply them with other tools. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { MusterError } from '../../api/errors.ts';
import { refuseSecretsInClear } from '../../components/secrets/index.ts';
import { toYaml } from '../../components/yaml.ts';
import { orderedForArgoCd } from '../../components/gitops/index.ts';
import { header, readIfThere, removeStale, writeFiles } from './files.ts';
import { installationSets } from './installation-sets.ts';
import { layOut, orderings } from './layout.ts';
import type { Ordering, SetOutput } from './layout.ts';
import { common } from './options.ts';
import { registrationSets } from './registration-sets.ts';
import { ruleSet } from './rule-set.ts';
import type { ManifestSet } from './sets.ts';

/** Flags of every set. */
interface OutputFlags {
  readonly out?: string;
  readonly format: 'yaml' | 'helm';
  readonly ordering: Ordering;
  readonly fluxSource?: string;
  readonly fluxPath?: string;
  readonly kustomization: boolean;
  readonly allowSecrets?: true;
}

const outputOptions = (): Option[] => [
  new Option('--out <dir>', 'write files into this folder instead of printing'),
  new Option('--ordering <tool>', 'order for this tool; flux needs --out').choices(orderings).default('none'),
  new Option('--flux-source <name>', 'GitRepository of Flux (default: flux-system)'),
  new Option('--flux-path <path>', 'path of the folder in the repository (default: found by .git)'),
  new Option('--no-kustomization', 'write no file for kubectl apply -k'),
  new Option('--allow-secrets', 'let manifests hold credentials in clear; never commit them'),
];

const formatOption = (): Option =>
  new Option('--format <format>', 'plain manifests, or a chart for helm').choices(['yaml', 'helm']).default('yaml');

/** Adds the command. `write` takes what would go to standard output. */
export function addSynth(program: Command, write: (text: string) => void): void {
  // Flags behind the name of a command or set are those of that one.
  const synth = program
    .enablePositionalOptions()
    .command('synth')
    .description('print manifests as YAML, or write them to files; without a set: crds, hub and agent')
    .enablePositionalOptions()
    .allowExcessArguments(false);
  for (const option of [common.image(), ...outputOptions()]) synth.addOption(option);
  synth.action((flags: OutputFlags, command: Command) => {
    const [unknown] = command.args;
    const known = command.commands.map((each) => each.name()).join(', ');
    if (unknown !== undefined) command.error(`error: unknown set '${unknown}'. Known are ${known}.`);
    run(installationSets, { ...flags, format: 'yaml' }, write);
  });
  for (const set of [...installationSets, ...registrationSets, ruleSet]) {
    const command = synth.command(set.name).description(set.description).allowExcessArguments(false);
    for (const option of set.options) command.addOption(option);
    for (const option of [...outputOptions(), ...(set.hasChart ? [formatOption()] : [])]) command.addOption(option);
    command.action((flags: OutputFlags) => run([set], flags, write));
  }
}

/** Throws INVALID_ARGUMENT and SECRET_IN_CLEAR; nothing is written then. */
function run(sets: readonly ManifestSet[], flags: OutputFlags, write: (text: string) => void): void {
  if (flags.format === 'helm') return writeChart(sets, flags, write);
  const outputs = sets.map((set): SetOutput => ({ set: set.name, folder: set.folder, ...set.synth({ ...flags }) }));
  if (!flags.allowSecrets) refuseSecretsInClear(outputs.flatMap(({ objects }) => objects));
  const { out, ordering } = flags;
  if (out !== undefined) return writePaths(writeFiles(out, layOut(out, outputs, flags)), write);
  if (ordering === 'flux')
    throw new MusterError('INVALID_ARGUMENT', 'flux needs --out', {
      where: '--ordering',
      hint: 'Flux is ordered by folders; name the one to write them to.',
    });
  const texts = outputs.map(({ objects }) => toYaml(ordering === 'argo-cd' ? orderedForArgoCd(objects) : objects));
  write(texts.join('---\n'));
}

function writeChart(sets: readonly ManifestSet[], flags: OutputFlags, write: (text: string) => void): void {
  const [set] = sets;
  const { out, ordering } = flags;
  if (set?.hasChart === undefined || out === undefined || ordering !== 'none')
    throw new MusterError('INVALID_ARGUMENT', 'helm needs --out and has an order of its own', { where: '--format' });
  const { objects, chart } = set.synth({ ...flags });
  // The same question as for plain manifests: defaults of values may be of the user, too.
  if (!flags.allowSecrets) refuseSecretsInClear(objects);
  const files = chart?.() ?? [];
  const name = /^name: (.*)$/m.exec(files.find(({ path }) => path === 'Chart.yaml')?.text ?? '')?.[0] ?? '';
  const present = readIfThere(join(out, 'Chart.yaml'));
  if (present !== undefined && !present.includes(`${name}\n`))
    throw new MusterError('INVALID_ARGUMENT', 'is another chart', { where: out, hint: 'Name a folder of its own.' });
  const written = writeFiles(
    out,
    files.map(({ path, text }) => ({
      path,
      text: canComment(path) ? header(`${set.name} --format helm`) + text : text,
    })),
  );
  const stale = removeStale(join(out, 'templates'), written);
  writePaths([...written, ...stale.map((path) => `${path} (removed)`)], write);
}

/** JSON has no comments, and notes are printed as they are. */
const canComment = (path: string): boolean => /\.(yaml|tpl)$/.test(path) && path !== 'templates/_helpers.tpl';

const writePaths = (paths: readonly string[], write: (text: string) => void): void =>
  write(paths.map((path) => `${path}\n`).join(''));
