/** Which versions of a kind an API server answers for, by its CustomResourceDefinition. Pure. */
import type { CustomResourceDefinition } from '../../api/kubernetes/workloads.ts';

/** None before the API server has accepted the kind's names. */
export function servedVersions(definition: CustomResourceDefinition): string[] {
  const conditions = definition.status?.conditions ?? [];
  const established = conditions.some(({ type, status }) => type === 'Established' && status === 'True');
  return established
    ? versionsOf(definition)
        .filter(({ served }) => served)
        .map(({ name }) => name)
    : [];
}

/** What {@link servedVersions} needs of a definition: the rest is mostly schema. */
export function servedOnly(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { apiVersion, kind, metadata, status } = definition;
  const { name = '', uid = '', resourceVersion = '' } = metadata;
  const versions = versionsOf(definition).map(({ name: version, served }) => ({ name: version, served }));
  const conditions = (status?.conditions ?? []).filter(({ type }) => type === 'Established');
  return { apiVersion, kind, metadata: { name, uid, resourceVersion }, spec: { versions }, status: { conditions } };
}

function versionsOf({ spec }: CustomResourceDefinition): readonly { name: string; served: boolean }[] {
  return (spec['versions'] ?? []) as readonly { name: string; served: boolean }[];
}
