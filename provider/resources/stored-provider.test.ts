import { createRequire } from 'node:module';
import { runtime } from '@pulumi/pulumi';
import { describe, expect, test } from 'vitest';
import { storedProvider } from './stored-provider.ts';

/** As dynamic.Resource does it. */
async function textOf(provider: object): Promise<{ text: string; containsSecrets: boolean }> {
  return runtime.serializeFunction(() => provider, { allowSecrets: true });
}

describe('the text that Pulumi stores (T14)', () => {
  test('is small, loads only this package, and captures nothing', async () => {
    const { text, containsSecrets } = await textOf(storedProvider);
    expect(Buffer.byteLength(text)).toBeLessThan(2500);
    expect(containsSecrets).toBe(false);
    expect(text.match(/require\([^)]*\)/g)).toEqual(['require(`pulumi-muster/provider`)']);
    expect(text).not.toContain(process.cwd());
  });

  test('never changes: states that hold it must not show a difference after an upgrade', async () => {
    expect((await textOf(storedProvider)).text).toMatchSnapshot();
  });

  test('is the same from the built package (T20)', async () => {
    const built = createRequire(import.meta.url)('../../dist/provider/resources/stored-provider.js') as {
      storedProvider: object;
    };
    expect(await textOf(built.storedProvider)).toEqual(await textOf(storedProvider));
  });
});
