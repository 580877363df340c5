import { chmod, copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ImageDefinition, ImageEntry } from './definition.ts';

/** The instructions of a container build that gives the same image from the folders that {@link writeContext} writes. */
export function containerfile(image: ImageDefinition): string {
  const lines = [
    '# Made by `npm run image -- --containerfile DIR` from the list of files that tests and demo run.',
    'FROM scratch',
    ...image.layers.map((layer) => `COPY ${layer.name}/ /`),
    ...Object.entries(image.environment).map(([name, value]) => `ENV ${name}=${JSON.stringify(value)}`),
    ...Object.entries(image.labels).map(([name, value]) => `LABEL ${name}=${JSON.stringify(value)}`),
    `USER ${image.user}`,
    'WORKDIR /',
    `ENTRYPOINT ${JSON.stringify(image.entrypoint)}`,
  ];
  return `${lines.join('\n')}\n`;
}

async function writeEntry(folder: string, entry: ImageEntry): Promise<void> {
  const path = join(folder, entry.at);
  await mkdir(dirname(path), { recursive: true });
  if (entry.type === 'link') return symlink(entry.to, path);
  if (entry.type === 'folder') await mkdir(path, { recursive: true });
  else if ('text' in entry.source) await writeFile(path, entry.source.text);
  else await copyFile(entry.source.path, path);
  await chmod(path, entry.mode);
}

/** Writes the Containerfile and, in a folder per layer, all files that it copies. */
export async function writeContext(image: ImageDefinition, folder: string): Promise<void> {
  for (const layer of image.layers) {
    for (const entry of layer.entries) await writeEntry(join(folder, layer.name), entry);
  }
  await writeFile(join(folder, 'Containerfile'), containerfile(image));
}
