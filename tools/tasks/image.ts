import { resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { buildPackage } from '../build.ts';
import {
  buildBusyboxImage,
  buildImage,
  buildPauseImage,
  musterImage,
  writeContext,
  type BuiltImage,
} from '../image/index.ts';
import { ToolError } from '../tool-error.ts';
import type { Task } from './task.ts';
import { table } from './tools.ts';

function parse(args: readonly string[]): { out?: string; containerfile?: string; all?: boolean } {
  try {
    const options = { out: { type: 'string' }, containerfile: { type: 'string' }, all: { type: 'boolean' } } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (cause) {
    throw new ToolError('INVALID_ARGUMENT', cause instanceof Error ? cause.message : String(cause), {
      what: 'npm run image',
      hint: 'Options: --out FILE, --all (the images of the tests too), --containerfile DIR.',
    });
  }
}

/**
 * `npm run image [-- --out FILE | --all | --containerfile DIR]`: builds the muster image and prints where it is; or
 * writes what a container build needs for the same image.
 */
export const imageTask: Task = async (args, reporter) => {
  const options = parse(args);
  await buildPackage(reporter);
  if (options.containerfile !== undefined) {
    const folder = resolve(options.containerfile);
    await writeContext(await musterImage(reporter), folder);
    process.stdout.write(`${folder}/Containerfile\n`);
    return 0;
  }
  const images: BuiltImage[] = [
    await buildImage({ reporter, ...(options.out === undefined ? {} : { out: resolve(options.out) }) }),
  ];
  if (options.all === true) {
    images.push(await buildPauseImage({ reporter }), await buildBusyboxImage({ reporter }));
  }
  const rows = images.map((image) => [image.ref, `${(image.size / 1e6).toFixed(1)} MB`, image.digest, image.archive]);
  process.stdout.write(table([['IMAGE', 'SIZE', 'DIGEST', 'ARCHIVE'], ...rows]));
  return 0;
};
