/** Where the real programs are. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { MusterError } from '../../api/errors.ts';

/** The path of a program on PATH, or undefined. */
export function onPath(name: string): string | undefined {
  // Debian keeps runc and iptables in a folder that only root's PATH has.
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

/** The path of a program. */
export async function binary(name: string): Promise<string> {
  const path = onPath(name);
  if (path !== undefined) return Promise.resolve(path);
  throw new MusterError('NOT_FOUND', `program ${name} is not on PATH`, { hint: 'Run `npm run tools` first.' });
}
