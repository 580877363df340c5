/** Files that take minutes start first, so that no worker is left with one of them at the end. */
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { repositoryRoot } from '../../tools/repository.ts';

/** Where the long ones are, the longest first. */
const order = [/^test\/.*\.real\.test\.ts$/, /^runtime\/hub\/.*\.real\.test\.ts$/, /\.real\.test\.ts$/];

const rank = (file: string): number => {
  const place = order.findIndex((pattern) => pattern.test(file));
  return place < 0 ? order.length : place;
};

/** Vitest's own order (by the last run, else by size) within each place. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const ranked = sorted.map((file) => ({ file, rank: rank(relative(repositoryRoot, file.moduleId)) }));
    return ranked.sort((a, b) => a.rank - b.rank).map(({ file }) => file);
  }
}
