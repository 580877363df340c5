/** How far an import is, and what is left to do. Pure. */
import { conditionTypes, findCondition, reasons } from '../../../api/conditions.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';

/** What was applied downstream last; read from condition Imported, so that it survives the hub. */
export interface Applied {
  /** Of the settings. */
  readonly revision: string;
  /** UID (first 8 digits) of the import token whose bootstrap Secret was applied; empty when none was. */
  readonly token: string;
}

const pattern = /revision ([0-9a-f]{12})(?:, token ([0-9a-f]{8}))?/;

export function appliedMessage({ revision, token }: Applied): string {
  return `the agent's manifests are applied (revision ${revision}${token === '' ? '' : `, token ${token}`})`;
}

/** `undefined` while nothing is known to be applied. */
export function appliedOf(cluster: Cluster): Applied | undefined {
  const imported = findCondition(cluster.status?.conditions, conditionTypes.imported);
  const match = pattern.exec(imported?.message ?? '');
  if (imported?.reason !== reasons.done || match === null) return undefined;
  return { revision: match[1] ?? '', token: match[2] ?? '' };
}

/** What the next import has to do. */
export interface ImportNeed {
  /** Apply the manifests. */
  readonly apply: boolean;
  /** With a bootstrap Secret: the agent is not registered, or is to be installed anew. */
  readonly bootstrap: boolean;
}

/** A registered agent keeps its credential; one that is not gets a bootstrap Secret with a token that still lives. */
export function importNeed(
  cluster: Cluster,
  revision: string,
  registered: boolean,
  tokenUid: string | undefined,
): ImportNeed {
  const applied = appliedOf(cluster);
  const redeploy =
    applied !== undefined &&
    (cluster.spec?.redeployAgentGeneration ?? 0) !== (cluster.status?.agentDeployedGeneration ?? 0);
  const bootstrap = !registered || redeploy;
  const known = tokenUid !== undefined && applied?.token === shortUid(tokenUid);
  return { apply: applied?.revision !== revision || (bootstrap && !known), bootstrap };
}

export function shortUid(uid: string): string {
  return uid.slice(0, 8);
}
