/**
 * The order of the files: those that take minutes first, so that no worker is left with one of them at the end, and
 * those that mostly wait between those that mostly compute, so that the processors are never idle.
 */
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { repositoryRoot } from '../../tools/repository.ts';

/** Those that take more than a minute, the longest first. A name that is missing here costs some time and nothing else. */
const long = {
  computing: [
    'test/pulumi/components',
    'test/e2e/register-clusters',
    'test/pulumi/engine',
    'test/e2e/npm-start',
    'test/pulumi/hub-release',
    'test/pulumi/consumers',
  ],
  waiting: [
    'runtime/hub/fleet/replicas',
    'runtime/hub/fleet/import',
    'test/e2e/one-way',
    'bench/bench',
    'runtime/hub/cluster-api/sources',
    'runtime/hub/fleet/rights-and-tokens',
    'runtime/hub/fleet/registration',
  ],
} as const;

const suffix = '.real.test.ts';
/** So many computing ones are started for each that waits. */
const computingPerWaiting = 2;

type Kind = keyof typeof long | 'short';

function kindOf(file: string): Kind {
  if (!file.endsWith(suffix)) return 'short';
  const name = file.slice(0, -suffix.length);
  if (long.waiting.some((each) => each === name)) return 'waiting';
  return file.startsWith('runtime/') ? 'waiting' : 'computing';
}

/** Vitest's own order (by the last run, else by size) where nothing else is known. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const named = sorted.map((file) => ({ file, name: relative(repositoryRoot, file.moduleId) }));
    const of = (kind: Kind) => named.filter(({ name }) => kindOf(name) === kind);
    const longest = (kind: keyof typeof long): TestSpecification[] => {
      const place = (name: string): number => {
        const index = long[kind].findIndex((each) => name === each + suffix);
        return index < 0 ? long[kind].length : index;
      };
      return of(kind)
        .sort((a, b) => place(a.name) - place(b.name))
        .map(({ file }) => file);
    };
    const [computing, waiting] = [longest('computing'), longest('waiting')];
    const mixed: TestSpecification[] = [];
    while (computing.length + waiting.length > 0) {
      mixed.push(...computing.splice(0, computingPerWaiting), ...waiting.splice(0, 1));
    }
    return [...mixed, ...of('short').map(({ file }) => file)];
  }
}
