/** Where the real programs are: `tools/` finds or builds them; each is looked for once per test process. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureTools } from '../../tools/index.ts';
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
