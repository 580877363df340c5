import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Everything that loading a file loads, without Node's own modules. */
async function loadedBy(file: string): Promise<string[]> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    // Exports must not be left out of the count because nothing uses them.
    treeShaking: false,
    logLevel: 'silent',
  });
  return Object.keys(result.metafile.inputs);
}

describe('what small programs load', () => {
  it.each([
    'api/fleet/names.ts',
    'api/fleet/constants.ts',
    'api/fleet/kinds.ts',
    'api/fleet/agent-config.ts',
    'api/fleet/hub-config.ts',
    'api/conditions.ts',
    'api/duration.ts',
    'api/durations.ts',
    'api/errors.ts',
    'api/labels.ts',
    'api/resource.ts',
    'api/kubernetes/core.ts',
    'api/kubernetes/names.ts',
    'api/kubernetes/rbac.ts',
    'api/kubernetes/workloads.ts',
  ])('given %s, when it is loaded, then no package is', async (file) => {
    expect((await loadedBy(file)).filter((input) => input.startsWith('node_modules'))).toEqual([]);
  });

  it('given the values of a token, when they can be read, then the YAML package is loaded and no schema is', async () => {
    const inputs = await loadedBy('api/fleet/bootstrap-values.ts');
    const packages = new Set(inputs.flatMap((input) => /^node_modules\/([^/]+)/.exec(input)?.[1] ?? []));
    expect([...packages]).toEqual(['yaml']);
  });

  it('given all of the API, when it is loaded, then nothing outside of it is but zod and yaml', async () => {
    const inputs = await loadedBy('api/index.ts');
    const outside = inputs.filter((input) => !/^(api|node_modules\/(zod|yaml))\//.test(input));
    expect(outside).toEqual([]);
  });
});
