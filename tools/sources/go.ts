import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { hashOf, type EntrySpec } from '../cache.ts';
import { exec, type ExecResult } from '../exec.ts';
import { probeVersion } from '../on-path.ts';
import { programs, versions, type ToolName } from '../programs.ts';
import type { Step } from '../progress.ts';
import { repositoryRoot } from '../repository.ts';
import { ToolError } from '../tool-error.ts';
import { overlay, type ModuleFile } from './go-embed.ts';

/** A Go module under tools/go and the programs that one build of it gives. */
export interface GoModule {
  readonly name: string;
  readonly version: string;
  /** Import path of the main package of each program. */
  readonly packages: Readonly<Partial<Record<ToolName, string>>>;
  /** Variables set by the linker: most programs know their version only so. */
  readonly variables?: Readonly<Record<string, string>>;
  /**
   * Files of a module that our main package embeds, by the name that it knows them under: they lie in the module's own
   * folder, where `go:embed` does not reach.
   */
  readonly embeds?: Readonly<Record<string, ModuleFile>>;
  /** What the compiler takes at its peak, in bytes; checked before minutes are spent. Default: not checked. */
  readonly memory?: number;
}

const [kubernetesMajor = '', kubernetesMinor = ''] = versions.kubernetes.split('.');

/** All Kubernetes programs in one build, which compiles what they share once. */
export const kubernetes: GoModule = {
  name: 'kubernetes',
  version: versions.kubernetes,
  packages: {
    'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
    'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
    'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
    kubelet: 'k8s.io/kubernetes/cmd/kubelet',
    'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
  },
  variables: {
    'k8s.io/component-base/version.gitVersion': `v${versions.kubernetes}`,
    'k8s.io/component-base/version.gitMajor': kubernetesMajor,
    'k8s.io/component-base/version.gitMinor': kubernetesMinor,
  },
};

/** The modules by source. */
export const goModules = {
  kubernetes,
  etcd: { name: 'etcd', version: versions.etcd, packages: { etcd: 'go.etcd.io/etcd/server/v3' } },
  pulumi: {
    name: 'pulumi',
    version: versions.pulumi,
    packages: { pulumi: 'github.com/pulumi/pulumi/pkg/v3/cmd/pulumi' },
    variables: { 'github.com/pulumi/pulumi/sdk/v3/go/common/version.Version': versions.pulumi },
  },
  'language-nodejs': {
    name: 'language-nodejs',
    version: versions.languageNodejs,
    packages: { 'pulumi-language-nodejs': 'github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs' },
  },
  'pulumi-kubernetes': {
    name: 'pulumi-kubernetes',
    version: versions.pulumiKubernetes,
    packages: { 'pulumi-resource-kubernetes': '.' },
    variables: { 'github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version': versions.pulumiKubernetes },
    embeds: {
      'schema.json': {
        module: 'github.com/pulumi/pulumi-kubernetes/provider/v4',
        path: 'cmd/pulumi-resource-kubernetes/schema.json',
      },
    },
    memory: 6 * 1024 ** 3,
  },
} as const satisfies Record<string, GoModule>;

function buildFlags(module: GoModule): string[] {
  const variables = Object.entries(module.variables ?? {}).map(([name, value]) => `-X ${name}=${value}`);
  return ['-trimpath', '-ldflags', ['-s', '-w', ...variables].join(' ')];
}

/** Settings of the build that must not depend on who runs it. */
const fixedEnvironment = { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false', GOWORK: 'off' };

const nameOf = (module: GoModule): string =>
  Object.keys(module.packages)
    .map((name) => `${name} ${module.version}`)
    .join(', ');

/** Turns the end of a `go` call into the one error that names what could not be had. */
function failure(module: GoModule, result: ExecResult): ToolError {
  const what = nameOf(module);
  if (result.missing || /requires go >=|toolchain not available/.test(result.stderr)) {
    const found = result.missing ? 'the Go toolchain is not on PATH' : 'the Go toolchain is too old';
    return new ToolError('MISSING_TOOLCHAIN', found, {
      what,
      hint: `Install Go as new as tools/go/${module.name}/go.mod asks for, or put these programs on PATH.`,
    });
  }
  const lines = result.stderr.trim().split('\n').slice(-5).join('\n');
  if (/dial tcp|no such host|i\/o timeout|proxyconnect|TLS handshake|x509:|connection re|: EOF$/m.test(result.stderr)) {
    return new ToolError('REGISTRY_UNREACHABLE', `the Go module proxy cannot be reached\n${lines}\n`, {
      what,
      hint: 'Look at your network and at GOPROXY, or put these programs on PATH.',
    });
  }
  return new ToolError('BUILD_FAILED', `go ended with code ${result.code}\n${lines}\n`, { what });
}

/** A compiler that runs out of memory takes others along, and says nothing that helps. */
function requireMemory(module: GoModule): void {
  const available = process.availableMemory();
  if (module.memory === undefined || available >= module.memory) return;
  const gigabytes = (bytes: number): string => (bytes / 1024 ** 3).toFixed(1);
  throw new ToolError(
    'NOT_ENOUGH_MEMORY',
    `the Go compiler needs ${gigabytes(module.memory)} GB of free memory, ${gigabytes(available)} GB are free`,
    { what: nameOf(module), hint: 'End other programs and try again; what was compiled before is not compiled again.' },
  );
}

async function build(module: GoModule, root: string, into: string, step: Step): Promise<void> {
  requireMemory(module);
  const env = { ...process.env, ...fixedEnvironment };
  const cwd = join(root, module.name);
  step.update('fetching modules');
  const laid = await overlay(module.embeds ?? {}, cwd, env, `${into}.overlay.json`);
  if ('code' in laid) throw failure(module, laid);
  try {
    await compile(module, { cwd, env, flags: laid.flags }, into, step);
  } finally {
    await laid.remove();
  }
  step.update('trying the programs');
  const names = Object.keys(module.packages) as ToolName[];
  await Promise.all(names.map((name) => tryOut(module, name, join(into, name))));
}

/** Where and how `go` is called. */
interface Call {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly flags: readonly string[];
}

async function compile(module: GoModule, { cwd, env, flags }: Call, into: string, step: Step): Promise<void> {
  const names = Object.keys(module.packages) as ToolName[];
  const packages = Object.values(module.packages);

  let fetched = 0;
  const list = await exec('go', ['list', '-deps', ...flags, ...packages], {
    cwd,
    env,
    onErrorLine: (line) => {
      if (line.startsWith('go: downloading')) step.update(`fetching modules, ${(fetched += 1)} so far`);
    },
  });
  if (list.code !== 0) throw failure(module, list);

  const total = list.stdout.trim().split('\n').length;
  let compiled = 0;
  step.update(`compiling ${total} packages`);
  const [first] = names;
  const output = names.length === 1 && first !== undefined ? join(into, first) : `${into}/`;
  const result = await exec('go', ['build', '-v', ...flags, ...buildFlags(module), '-o', output, ...packages], {
    cwd,
    env,
    onErrorLine: (line) => {
      if (/^[\w.-]+(\/\S+)?$/.test(line)) step.update(`compiled ${(compiled += 1)} of ${total} packages`);
    },
  });
  if (result.code !== 0) throw failure(module, result);
}

/** A program that does not start, or is not what was asked for, is never published. */
async function tryOut(module: GoModule, name: ToolName, path: string): Promise<void> {
  const program = programs[name];
  if (program.versionArgs === undefined) {
    const help = await exec(path, ['-h'], { timeoutMs: 20_000 });
    if (help.stderr.includes('Usage of')) return;
  } else if ((await probeVersion(path, program)) === module.version) return;
  throw new ToolError('BUILD_FAILED', 'the built program does not start or has another version', {
    what: `${name} ${module.version}`,
  });
}

/** The cache entry of a module: another go.mod, go.sum, main package, flag or platform is another entry. */
export async function goEntry(module: GoModule, root = join(repositoryRoot, 'tools', 'go')): Promise<EntrySpec> {
  const [mod, sum, main] = await Promise.all(
    ['go.mod', 'go.sum', ...(module.embeds === undefined ? [] : ['main.go'])].map((name) =>
      readFile(join(root, module.name, name), 'utf8'),
    ),
  );
  return {
    kind: 'tools',
    name: module.name,
    version: module.version,
    key: hashOf(
      mod ?? '',
      sum ?? '',
      JSON.stringify(module.packages),
      ...(main === undefined ? [] : [main, JSON.stringify(module.embeds)]),
      JSON.stringify(fixedEnvironment),
      ...buildFlags(module),
      process.platform,
      process.arch,
    ),
    files: Object.keys(module.packages),
    build: (into, step) => build(module, root, into, step),
  };
}
