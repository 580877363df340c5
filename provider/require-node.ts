/** Imported first by the entries of the package, for what it does when it is loaded. */
import { isMusterError } from '../api/errors.ts';
import { requireNode } from './node-version.ts';

try {
  requireNode(process.version);
} catch (error) {
  // The text is all that a user sees of an error at load time.
  throw isMusterError(error) ? new Error(error.describe()) : error;
}
