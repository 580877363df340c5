/** Which ports a container will open, told from its environment. */
import { parseBindAddress } from '../../api/bind-address.ts';
import type { BindAddress } from '../../api/bind-address.ts';
import type { EnvVar } from './props.ts';

/**
 * Where the process with this environment will listen. Undefined when the endpoint is off, or when the value comes
 * from another object or is any free port, and so is not known here.
 */
export function bindAddressOf(env: readonly EnvVar[], name: string, defaultPort: number): BindAddress | undefined {
  const entry = env.find((variable) => variable.name === name);
  if (entry === undefined) return { port: defaultPort };
  if (entry.valueFrom !== undefined) return undefined;
  const address = parseBindAddress(entry.value ?? '', `env ${name}`);
  return address?.port === 0 ? undefined : address;
}
