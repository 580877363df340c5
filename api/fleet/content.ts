/** Content: the files of one version of a bundle; cluster-scoped, named by a hash of them. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { bytes, int, text } from '../schema.ts';
import { group, version } from './constants.ts';
import { ageColumn } from './printer-columns.ts';

export const contentStatus = z
  .object({ referenceCount: int('BundleDeployments that use the files.').optional() })
  .describe('Who uses the files.');

export const contentDescriptor = defineResource({
  group,
  version,
  kind: 'Content',
  plural: 'contents',
  namespaced: false,
  description: 'The files of one version of a bundle; named by a hash of them.',
  schema: z.object({
    content: bytes('The files as JSON, compressed with gzip.').nullish(),
    sha256sum: text('SHA-256 of the JSON before compression, in hex.').optional(),
    status: contentStatus.optional(),
  }),
  printerColumns: [
    {
      name: 'References',
      type: 'integer',
      jsonPath: '.status.referenceCount',
      description: 'BundleDeployments that use the files.',
    },
    ageColumn,
  ],
});

export type Content = ObjectOf<typeof contentDescriptor.schema>;
export type ContentStatus = z.input<typeof contentStatus>;
