/** Flags that several sets have. */
import { Option } from 'commander';
import { MusterError } from '../../api/errors.ts';
import { version } from '../../api/version.ts';
import type { SecretSource } from '../../components/index.ts';
import { collect, readObject } from './input.ts';

export const common = {
  props: () => new Option('--props <file>', 'further properties, as YAML or JSON; flags win'),
  image: () => new Option('--image <image>', `container image (default: muster:${version})`),
  name: () => new Option('--name <name>', 'its name'),
  workspace: () => new Option('--namespace <workspace>', 'its workspace (default: fleet-default)'),
  label: (what: string) => new Option('--label <key=value>', `${what}; repeatable`).argParser(collect),
};

/** Flags of a set that needs a credential. */
export const credentialOptions = (what: string): Option[] => [
  new Option('--external-secret <store>', `${what}: from this [ClusterSecretStore/]store of External Secrets`),
  new Option('--external-secret-key <key>', 'key in that store, KEY or KEY#PROPERTY'),
  new Option('--sealed-secret <file>', `${what}: from this SealedSecret`),
];

/** The source that {@link credentialOptions} name, or undefined. Throws INVALID_ARGUMENT. */
export function credentialOf(flags: {
  readonly externalSecret?: string;
  readonly externalSecretKey?: string;
  readonly sealedSecret?: string;
}): SecretSource | undefined {
  const { externalSecret, externalSecretKey, sealedSecret } = flags;
  if (externalSecret !== undefined && sealedSecret !== undefined)
    throw new MusterError('INVALID_ARGUMENT', 'is given together with --sealed-secret', { where: '--external-secret' });
  if ((externalSecret === undefined) !== (externalSecretKey === undefined))
    throw new MusterError('INVALID_ARGUMENT', 'needs the other', {
      where: '--external-secret and --external-secret-key',
      hint: 'Name the store, and the key in it.',
    });
  if (sealedSecret !== undefined) return { sealedSecret: readObject(sealedSecret, '--sealed-secret') as never };
  if (externalSecret === undefined || externalSecretKey === undefined) return undefined;
  const slash = externalSecret.indexOf('/');
  const [kind, name] = slash < 0 ? [] : [externalSecret.slice(0, slash), externalSecret.slice(slash + 1)];
  const hash = externalSecretKey.indexOf('#');
  return {
    externalSecret: {
      secretStoreRef: { name: name ?? externalSecret, ...(kind === undefined ? {} : { kind: kind as 'SecretStore' }) },
      remoteRef:
        hash < 0
          ? { key: externalSecretKey }
          : { key: externalSecretKey.slice(0, hash), property: externalSecretKey.slice(hash + 1) },
    },
  };
}
