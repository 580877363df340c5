import { join } from 'node:path';

/** The root of this repository. */
export const repositoryRoot = join(import.meta.dirname, '..');

/** Programs of npm packages, Node.js 24 among them. */
export const npmBinFolder = join(repositoryRoot, 'node_modules', '.bin');
