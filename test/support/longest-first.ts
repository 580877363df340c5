/**
 * The order of the files: those that take minutes first, so that no worker is left with one of them at the end, and
 * those that mostly wait between those that mostly compute, so that the processors are never idle.
 */
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { repositoryRoot } from '../../tools/repository.ts';

/** Those that take more than a minute, the longest first. A name that is missing here costs some time and nothing else. */
const long: Readonly<Record<'computing' | 'waiting', readonly string[]>> = {
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
};

const suffix = '.real.test.ts';
/** So many computing ones are started for each that waits. */
const computingPerWaiting = 2;

type Kind = keyof typeof long | 'short';

const nameOf = ({ moduleId }: TestSpecification): string => relative(repositoryRoot, moduleId);

/** In the list of its kind; those that are not in it come after it. */
function place(kind: keyof typeof long, file: TestSpecification): number {
  const index = long[kind].indexOf(nameOf(file).slice(0, -suffix.length));
  return index < 0 ? long[kind].length : index;
}

function kindOf(file: string): Kind {
  if (!file.endsWith(suffix)) return 'short';
  const name = file.slice(0, -suffix.length);
  if (long.waiting.includes(name)) return 'waiting';
  return file.startsWith('runtime/') ? 'waiting' : 'computing';
}

/** Vitest's own order (by the last run, else by size) where nothing else is known. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const of = (kind: Kind) => sorted.filter((file) => kindOf(nameOf(file)) === kind);
    const longest = (kind: keyof typeof long) => of(kind).sort((a, b) => place(kind, a) - place(kind, b));
    const [computing, waiting] = [longest('computing'), longest('waiting')];
    const mixed: TestSpecification[] = [];
    while (computing.length + waiting.length > 0) {
      mixed.push(...computing.splice(0, computingPerWaiting), ...waiting.splice(0, 1));
    }
    return [...mixed, ...of('short')];
  }
}
