/** The form of what this package keeps in Pulumi's state, and its versions. */
import { MusterError } from '../api/errors.ts';
import type { Props } from './handler.ts';

/**
 * Version of the outputs' form. Raise it with any change that an older handler would misread, add the step from the
 * version before to {@link upgrades}, and a fixture under test/pulumi/fixtures.
 */
export const schemaVersion = 1;

/** `upgrades[n]` takes outputs of version n to version n+1. */
const upgrades: Readonly<Record<number, (outputs: Props) => Props>> = {};

/**
 * Outputs in today's form, without their version.
 * @throws MusterError UNSUPPORTED when a newer package wrote them.
 */
export function currentState(outputs: Props): Props {
  const written = outputs['schemaVersion'];
  let version = typeof written === 'number' ? written : schemaVersion;
  if (version > schemaVersion) {
    throw new MusterError(
      'UNSUPPORTED',
      `the state was written by a newer pulumi-muster (form ${version}; this one knows ${schemaVersion})`,
      { where: 'schemaVersion', hint: 'Upgrade pulumi-muster in the directory of the Pulumi program.' },
    );
  }
  let result = outputs;
  for (; version < schemaVersion; version++) result = upgrades[version]?.(result) ?? result;
  const { schemaVersion: _, ...rest } = result;
  return rest;
}
