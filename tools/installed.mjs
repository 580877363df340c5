// Whether npm has to install anything. Plain JavaScript, as the bootstrap needs it first.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** npm leaves a list of what it installed; comparing it asks nobody and takes milliseconds. */
export function isInstalled(root) {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages ?? {};
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages ?? {};
  const same = Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || entry.link === true) return true;
    const found = installed[path];
    return found === undefined ? entry.optional === true || entry.peer === true : found.version === entry.version;
  });
  return same && existsSync(join(root, 'node_modules', '.bin', 'node'));
}
