/** Where the real programs are: `tools/` finds or builds them; each is looked for once per test process. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureTools, ToolError } from '../../tools/index.ts';
import type { ToolName } from '../../tools/index.ts';

const found = new Map<ToolName, Promise<string>>();

/**
 * The path of a program.
 *
 * @throws ToolError when it is neither on PATH nor in the cache and cannot be made.
 */
export function binary(name: ToolName): Promise<string> {
  const known = found.get(name) ?? ensureTools([name]).then((tools) => tools[name].path);
  found.set(name, known);
  return known;
}

/**
 * Why this machine cannot make a program, when it has too little memory for that: tests of it are skipped then and say
 * so. Any other failure is one.
 */
export async function lackedFor(name: ToolName): Promise<string | undefined> {
  try {
    await binary(name);
    return undefined;
  } catch (error) {
    if (error instanceof ToolError && error.code === 'NOT_ENOUGH_MEMORY') return error.describe();
    throw error;
  }
}

/** The path of a program of the operating system, or undefined; nothing is installed. */
export function onPath(name: string): string | undefined {
  // Debian keeps runc and iptables in folders that only root's PATH has.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  return folders
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
