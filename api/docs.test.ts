import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { renderReference } from './docs.ts';
import { fleetDescriptors } from './fleet/index.ts';
import { musterDescriptors } from './muster/index.ts';

const docs = new URL('../docs/', import.meta.url).pathname;
const files = renderReference([...fleetDescriptors, ...musterDescriptors]);

describe('the reference', () => {
  it.each(Object.entries(files))('docs/%s is what api/ says now (npm run docs writes it)', async (name, text) => {
    await expect(text).toMatchFileSnapshot(`${docs}${name}`);
  });

  it('has no page of a kind that is gone', async () => {
    const found = (await readdir(`${docs}reference`)).map((name) => `reference/${name}`);
    expect(found.filter((name) => !(name in files))).toEqual([]);
  });

  it('links only to pages and headings that are there', () => {
    for (const [name, text] of Object.entries(files)) {
      for (const [, target = ''] of text.matchAll(/\]\(([^)]+)\)/g)) {
        const [file = '', heading] = target.split('#');
        const page = new URL(file, `file:///${name}`).pathname.slice(1);
        expect(files, `${name} → ${target}`).toHaveProperty([page]);
        if (heading) expect(files[page]?.toLowerCase()).toContain(`\n## ${heading}\n`);
      }
    }
  });

  it('tells required fields, choices, defaults and null', () => {
    expect(files['reference/git-repo.md']).toContain(
      '| `spec.repo` | string | URL of the repository, https or ssh. Required. |',
    );
    expect(files['reference/bundle.md']).toContain('One of `FirstMatch`, `AllMatches`. Default: `FirstMatch`.');
    expect(files['reference/cluster.md']).toContain('| `spec.templateValues` | any object or null |');
    expect(files['reference/cluster.md']).toContain('| `spec.agentEnvVars[].name` | string |');
  });
});
