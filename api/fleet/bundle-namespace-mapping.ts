/** BundleNamespaceMapping: lets bundles of one namespace reach clusters of others. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { labelSelector } from '../kubernetes/label-selector.ts';
import { group, version } from './constants.ts';
import { ageColumn } from './printer-columns.ts';

export const bundleNamespaceMappingDescriptor = defineResource({
  group,
  version,
  kind: 'BundleNamespaceMapping',
  plural: 'bundlenamespacemappings',
  namespaced: true,
  description: 'Lets bundles of its namespace reach clusters of other namespaces. Needs both selectors to take effect.',
  shortNames: ['fbnm'],
  categories: ['fleet'],
  schema: z.object({
    bundleSelector: labelSelector('Bundles of the same namespace.').nullish(),
    namespaceSelector: labelSelector('Namespaces whose clusters they reach.').nullish(),
  }),
  printerColumns: [ageColumn],
});

export type BundleNamespaceMapping = ObjectOf<typeof bundleNamespaceMappingDescriptor.schema>;
