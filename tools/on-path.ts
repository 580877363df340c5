import { access, constants, mkdir, open, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { cacheDir } from './cache.ts';
import { exec } from './exec.ts';
import { parseVersion, programs, type Program, type ToolName } from './programs.ts';

/** A program that is on the machine already. */
export interface Found {
  readonly path: string;
  readonly version: string;
}

/** Longest time that a program may take to print its version, in ms. */
const probeMs = 20_000;
/** Debian puts daemons where a user's PATH does not look. */
const systemFolders = ['/usr/sbin', '/sbin', '/usr/local/sbin'];
/** Where distributions put CNI plugins; `CNI_PATH` first. */
const cniFolders = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'];

async function isExecutable(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return false;
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Every executable of this name on PATH, in order; our own cache is left out, as it would name itself `path`. */
async function candidates(name: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const own = cacheDir();
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && !folder.startsWith(own));
  const found: string[] = [];
  // Nothing at all without PATH, so that an empty PATH means what it says.
  for (const folder of folders.length === 0 ? [] : [...folders, ...systemFolders]) {
    const path = join(folder, name);
    if (!found.includes(path) && (await isExecutable(path))) found.push(path);
  }
  return found;
}

interface Probe {
  readonly size: number;
  readonly mtimeMs: number;
  readonly version: string | null;
}

/** Versions seen, so that a second call starts no program: valid while size and time of the file are the same. */
class Probes {
  readonly #file = join(cacheDir(), 'probes.json');
  #known: Record<string, Probe> | undefined;
  #changed = false;

  async version(path: string, program: Program): Promise<string | undefined> {
    this.#known ??= await readFile(this.#file, 'utf8').then(
      (text) => JSON.parse(text) as Record<string, Probe>,
      () => ({}),
    );
    const file = await realpath(path);
    const { size, mtimeMs } = await stat(file);
    // The path as found is part of the key: a multi-call binary answers by the name it is called.
    const known = this.#known[path];
    if (known?.size === size && known.mtimeMs === mtimeMs) return known.version ?? undefined;
    const version = await probeVersion(path, program);
    this.#known[path] = { size, mtimeMs, version: version ?? null };
    this.#changed = true;
    return version;
  }

  async save(): Promise<void> {
    if (!this.#changed) return;
    try {
      const temporary = `${this.#file}.${process.pid}`;
      await mkdir(dirname(this.#file), { recursive: true });
      await writeFile(temporary, JSON.stringify(this.#known));
      await rename(temporary, this.#file);
    } catch {
      // Only a memory of what can be asked again.
    }
  }
}

/** What the program says its version is; undefined when it does not run or says something else. */
export async function probeVersion(path: string, program: Program): Promise<string | undefined> {
  if (program.versionArgs === undefined || program.versionPattern === undefined) return undefined;
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: 'true' };
  const result = await exec(path, program.versionArgs, { timeoutMs: probeMs, env });
  return result.code === 0 ? program.versionPattern.exec(result.stdout)?.[1] : undefined;
}

/** True for a Linux executable without an interpreter: it runs in an image that holds nothing else. */
export async function isStatic(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const header = Buffer.alloc(64);
    await file.read(header, 0, 64, 0);
    if (header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2) return false;
    const offset = Number(header.readBigUInt64LE(32));
    const size = header.readUInt16LE(54);
    const table = Buffer.alloc(size * header.readUInt16LE(56));
    await file.read(table, 0, table.length, offset);
    const interpreter = 3; // PT_INTERP of the ELF specification
    for (let at = 0; at < table.length; at += size) if (table.readUInt32LE(at) === interpreter) return false;
    return true;
  } finally {
    await file.close();
  }
}

async function findCni(env: NodeJS.ProcessEnv): Promise<Found | undefined> {
  const folders = [...(env.CNI_PATH ?? '').split(delimiter).filter(Boolean), ...cniFolders];
  for (const folder of (env.PATH ?? '') === '' ? [] : folders) {
    const needed = ['bridge', 'loopback', 'host-local', 'portmap'].map((name) => isExecutable(join(folder, name)));
    if ((await Promise.all(needed)).every(Boolean)) return { path: folder, version: '-' };
  }
  return undefined;
}

async function findProgram(name: ToolName, probes: Probes, env: NodeJS.ProcessEnv): Promise<Found | undefined> {
  const program = programs[name];
  for (const path of await candidates(name, env)) {
    if (name === 'busybox' && !(await isStatic(path))) continue;
    const version = await probes.version(path, program);
    if (version !== undefined && program.accepts(parseVersion(version))) return { path, version };
  }
  return undefined;
}

/** Pulumi's releases ship engine and language host in one folder, and only such a pair is known to fit. */
async function findLanguageHost(probes: Probes, env: NodeJS.ProcessEnv): Promise<Found | undefined> {
  const engine = await findProgram('pulumi', probes, env);
  if (engine === undefined) return undefined;
  const path = join(dirname(engine.path), 'pulumi-language-nodejs');
  return (await isExecutable(path)) ? { path, version: `with pulumi ${engine.version}` } : undefined;
}

/** The version of a program at a known place; asked once per file. */
export async function versionAt(path: string, name: ToolName): Promise<string | undefined> {
  const probes = new Probes();
  const version = await probes.version(path, programs[name]);
  await probes.save();
  return version;
}

/** Those of `names` that PATH offers in a version that is known to work (README.md has the rules). */
export async function findOnPath(
  names: readonly ToolName[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Map<ToolName, Found>> {
  const probes = new Probes();
  const found = new Map<ToolName, Found>();
  for (const name of names) {
    let one: Found | undefined;
    if (name === 'cni') one = await findCni(env);
    else if (name === 'pulumi-language-nodejs') one = await findLanguageHost(probes, env);
    else one = await findProgram(name, probes, env);
    if (one !== undefined) found.set(name, one);
  }
  await probes.save();
  return found;
}
