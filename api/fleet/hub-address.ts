/** Where the hub is, told to agents that are registered already: so that a new address or CA needs no new registration. */
import { createHash } from 'node:crypto';

/** One place of the hub. */
export interface HubAddress {
  /** `https://…` */
  readonly url: string;
  /** PEM; empty when the system trusts the hub. */
  readonly ca: string;
  /** Only agents at one of these addresses are meant (and those at `url`). Absent: every agent that reads it. */
  readonly replaces?: readonly string[];
}

/** The JSON under key `hub` of the edge's ConfigMap `fleet-agent`, and in annotation `muster.dev/hub-address` of a Cluster. */
export function formatHubAddress({ url, ca, replaces }: HubAddress): string {
  return JSON.stringify({ url, ca, ...(replaces === undefined ? {} : { replaces }) });
}

/** Short digest of an address: says that there is news without saying all of it again. */
export function addressRevision(address: HubAddress): string {
  return createHash('sha256').update(formatHubAddress(address)).digest('hex').slice(0, 12);
}

/** `undefined` for what is no address that an agent could use. */
export function parseHubAddress(text: string | undefined): HubAddress | undefined {
  if (!text) return undefined;
  try {
    const { url, ca, replaces } = (JSON.parse(text) ?? {}) as { url?: unknown; ca?: unknown; replaces?: unknown };
    if (typeof url !== 'string' || URL.parse(url)?.protocol !== 'https:' || typeof ca !== 'string') return undefined;
    if (replaces !== undefined && !(Array.isArray(replaces) && replaces.every((each) => typeof each === 'string'))) {
      return undefined;
    }
    const list = replaces as string[] | undefined;
    return { url: url.replace(/\/+$/, ''), ca, ...(list === undefined ? {} : { replaces: list }) };
  } catch {
    return undefined;
  }
}

/** The certificates of PEM texts, each once, in their order. */
export function certificatesOf(...texts: readonly string[]): string[] {
  const blocks = texts.flatMap(
    (text) => text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [],
  );
  return [...new Set(blocks.map((block) => block.replaceAll('\r', '').trim()))];
}

/** Whether both hold the same certificates, whatever the order and the space between them. */
export function sameCertificates(a: string | undefined, b: string | undefined): boolean {
  const [one, other] = [certificatesOf(a ?? '').sort(), certificatesOf(b ?? '').sort()];
  return one.length === other.length && one.every((block, index) => block === other[index]);
}
