/** Old versions of Node.js are told so at once, instead of failing somewhere on something that they lack. */
import { MusterError } from '../api/errors.ts';

/** As `engines` in package.json: the first release that loads ES modules by `require` and has Promise.withResolvers. */
const oldest = { major: 22, minor: 18 };

/**
 * Does nothing for a version that is new enough.
 * @throws MusterError UNSUPPORTED naming the version that runs and the one that is needed.
 */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return;
  throw new MusterError('UNSUPPORTED', `Node.js ${version} is too old`, {
    where: 'pulumi-muster',
    hint: `Run pulumi with Node.js ${oldest.major}.${oldest.minor} or newer first on PATH.`,
  });
}
