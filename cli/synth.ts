/** `muster synth`: the manifests as YAML, for those who commit them or apply them with other tools. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument } from 'commander';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { MusterError } from '../api/errors.ts';
import { parseValues } from '../api/fleet/bootstrap-values.ts';
import type { HubConfig } from '../api/fleet/hub-config.ts';
import { version } from '../api/version.ts';
import type { KubeObject } from '../api/resource.ts';
import { synthAgent, synthCluster, synthCrds, synthHub } from '../components/fleet/index.ts';
import { toYaml } from '../components/yaml.ts';
import type { AgentProps, HubProps, RegisteredClusterProps } from '../components/fleet/index.ts';

/** What an installation consists of: all of it when no set is named. */
const sets = ['crds', 'hub', 'agent'] as const;
const named = [...sets, 'cluster'] as const;
type SetName = (typeof named)[number];

/** Flags of the command; each belongs to the sets that its description names. */
export interface SynthOptions {
  readonly out?: string;
  readonly image?: string;
  readonly namespace?: string;
  readonly props?: string;
  readonly apiServerUrl?: string;
  readonly apiServerCa?: string;
  readonly workspace?: readonly string[];
  readonly values?: string;
  readonly clientId?: string;
  readonly label?: readonly string[];
  readonly deploysWorkloads?: boolean;
  readonly name?: string;
  readonly kubeconfigSecret?: string;
}

const collect = (value: string, all: readonly string[] = []): readonly string[] => [...all, value];

export function addSynth(program: Command, write: (text: string) => void): void {
  program
    .command('synth')
    .description('print the manifests as YAML, or write them to files with --out')
    .addArgument(new Argument('[set]', 'which manifests; crds, hub and agent by default').choices([...named]))
    .option('--out <dir>', 'write DIR/SET.yaml')
    .option('--image <image>', 'hub, agent: container image (muster:VERSION)')
    .option(
      '--namespace <namespace>',
      'hub: system namespace; agent: its namespace (cattle-fleet-system); cluster: its workspace (fleet-default)',
    )
    .option('--props <file>', 'hub, agent or cluster: further properties, as YAML or JSON; flags win')
    .option('--api-server-url <url>', 'hub: its address as agents reach it')
    .option('--api-server-ca <file>', 'hub: certificate authority of that address, PEM')
    .option('--workspace <namespace>', 'hub: a namespace for clusters and tokens; repeatable', collect)
    .option('--values <file>', 'agent: values of a registration token; the result then holds a credential')
    .option('--client-id <id>', 'agent, cluster: identity at the hub')
    .option('--label <key=value>', 'agent: label to register with; cluster: label; repeatable', collect)
    .option('--deploys-workloads', 'agent: give it the rights to install workloads')
    .option('--name <name>', 'cluster: its name')
    .option('--kubeconfig-secret <name>', 'cluster: Secret on the hub with its kubeconfig; the hub installs the agent')
    .action((set: SetName | undefined, options: SynthOptions) => synth(set, options, write));
}

/** Throws INVALID_ARGUMENT for unreadable files and bad properties. */
export function synth(set: SetName | undefined, options: SynthOptions, write: (text: string) => void): void {
  if (set === undefined && options.props !== undefined)
    throw new MusterError('INVALID_ARGUMENT', 'properties belong to one set of manifests', {
      where: '--props',
      hint: 'Name the set, such as muster synth hub.',
    });
  const chosen = (set === undefined ? sets : [set]).map((name) => ({ name, text: toYaml(manifests(name, options)) }));
  if (options.out === undefined) {
    write(chosen.map(({ text }) => text).join('---\n'));
    return;
  }
  mkdirSync(options.out, { recursive: true });
  for (const { name, text } of chosen) {
    const path = join(options.out, `${name}.yaml`);
    // With --values the file holds a credential.
    writeFileSync(path, text, { mode: name === 'agent' && options.values !== undefined ? 0o600 : 0o666 });
    write(`${path}\n`);
  }
}

function manifests(set: SetName, options: SynthOptions): KubeObject[] {
  switch (set) {
    case 'crds':
      return synthCrds();
    case 'hub':
      return synthHub(hubProps(options));
    case 'agent':
      return synthAgent(agentProps(options));
    case 'cluster':
      return synthCluster(clusterProps(options));
  }
}

function hubProps(options: SynthOptions): HubProps {
  const given = readProps<Partial<HubProps>>(options.props);
  const config: HubConfig = {
    ...given.config,
    ...(options.apiServerUrl === undefined ? {} : { apiServerURL: options.apiServerUrl }),
    ...(options.apiServerCa === undefined ? {} : { apiServerCA: readText(options.apiServerCa, '--api-server-ca') }),
  };
  return {
    ...given,
    ...common(options, given),
    ...(options.workspace ? { workspaces: options.workspace } : {}),
    config,
  };
}

function agentProps(options: SynthOptions): AgentProps {
  const given = readProps<Partial<AgentProps>>(options.props);
  const labels = Object.fromEntries((options.label ?? []).map(parseLabel));
  return {
    ...given,
    ...common(options, given),
    ...(options.values === undefined ? {} : { bootstrap: parseValues(readText(options.values, '--values')) }),
    ...(options.clientId === undefined ? {} : { clientID: options.clientId }),
    ...(options.label === undefined ? {} : { labels: { ...given.labels, ...labels } }),
    ...(options.deploysWorkloads ? { deploysWorkloads: true } : {}),
  };
}

function clusterProps(options: SynthOptions): RegisteredClusterProps {
  const given = readProps<Partial<RegisteredClusterProps>>(options.props);
  const { namespace, clientId, kubeconfigSecret, label } = options;
  const labels = Object.fromEntries((label ?? []).map(parseLabel));
  return {
    ...given,
    name: options.name ?? given.name ?? '',
    ...(namespace === undefined ? {} : { namespace }),
    ...(clientId === undefined ? {} : { clientID: clientId }),
    ...(kubeconfigSecret === undefined ? {} : { kubeconfigSecret: { name: kubeconfigSecret } }),
    ...(label === undefined ? {} : { labels: { ...given.labels, ...labels } }),
  };
}

function common(options: SynthOptions, given: { image?: string }): { image: string; namespace?: string } {
  return {
    image: options.image ?? given.image ?? `muster:${version}`,
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
  };
}

function parseLabel(text: string): [string, string] {
  const equals = text.indexOf('=');
  if (equals < 1)
    throw new MusterError('INVALID_ARGUMENT', `is ${JSON.stringify(text)}`, {
      where: '--label',
      hint: 'Write key=value.',
    });
  return [text.slice(0, equals), text.slice(equals + 1)];
}

function readProps<T extends object>(path: string | undefined): T | Record<string, never> {
  if (path === undefined) return {};
  const text = readText(path, '--props');
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    throw new MusterError('INVALID_ARGUMENT', 'is not YAML', { where: path, cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MusterError('INVALID_ARGUMENT', 'does not hold a mapping of properties', { where: path });
  return value as T;
}

function readText(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new MusterError('INVALID_ARGUMENT', `cannot read ${path}`, { where: flag, cause });
  }
}
