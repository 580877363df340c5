/** Values that take the place of outputs while it is found out what depends on them. They reach no cluster. */
import { formatValues } from '../../api/fleet/bootstrap-values.ts';

type Pair = readonly [unknown, unknown];

const pair = (of: (letter: string) => unknown): Pair => [of('a'), of('b')];
const certificate = (letter: string): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(letter).toString('base64')}\n-----END CERTIFICATE-----\n`;

const image = pair((letter) => `stand-in.invalid/muster:${letter}`);
const duration: Pair = ['1m', '2m'];
const count: Pair = [1, 2];
const countText: Pair = ['1', '2'];

/** By the name of the argument, for those that take no text of any form. */
const byName: Readonly<Record<string, Pair>> = {
  image,
  agentImage: image,
  apiServerURL: pair((letter) => `https://${letter}.invalid`),
  apiServerCA: pair(certificate),
  checkinInterval: duration,
  agentCheckinInterval: duration,
  garbageCollectionInterval: duration,
  gitClientTimeout: duration,
  replicas: count,
  redeploy: count,
  tolerationSeconds: count,
  bundledeployment: countText,
  drift: countText,
  minAvailable: countText,
  maxUnavailable: countText,
  values: pair((letter) =>
    formatValues({
      clusterNamespace: letter,
      apiServerURL: `https://${letter}.invalid`,
      apiServerCA: certificate(letter),
      token: letter,
      tokenName: letter,
      systemRegistrationNamespace: letter,
    }),
  ),
};

const text = pair((letter) => `stand-in-${letter}`);

/** Two values of the form that the argument at `path` has. */
export function standInsFor(path: readonly (string | number)[]): Pair {
  const name = path.at(-1);
  // `value` is a number here, and a text in an environment variable.
  if (path.at(-2) === 'priorityClass' && name === 'value') return count;
  return typeof name === 'string' && Object.hasOwn(byName, name) ? (byName[name] ?? text) : text;
}
