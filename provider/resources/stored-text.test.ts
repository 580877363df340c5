import { runtime } from '@pulumi/pulumi';
import type { dynamic } from '@pulumi/pulumi';
import { describe, expect, test } from 'vitest';
import { storedText } from './stored-text.ts';

type Provider = Required<dynamic.ResourceProvider>;

/** Where the text is evaluated there is Node's own. */
declare const require: (name: string) => { dynamicProvider: Provider };

// prettier-ignore
const load: () => Promise<Provider> = () => Promise.resolve().then(() => require(`pulumi-muster/provider`).dynamicProvider).catch((e) => Promise.reject(new Error(`[UNSUPPORTED] npm install pulumi-muster in ${process.cwd()} (Node.js ${process.version}, needs 22.18): ${e.message}`)));

/** What the text means, as one would write it for `dynamic.Resource`. */
// prettier-ignore
const provider: dynamic.ResourceProvider = {
  configure: (request) => load().then((p) => p.configure(request)),
  check: (olds, news) => load().then((p) => p.check(olds, news)),
  diff: (id, olds, news) => load().then((p) => p.diff(id, olds, news)),
  create: (inputs) => load().then((p) => p.create(inputs)),
  read: (id, props) => load().then((p) => p.read(id, props)),
  update: (id, olds, news) => load().then((p) => p.update(id, olds, news)),
  delete: (id, props) => load().then((p) => p.delete(id, props)),
};

describe('the text that Pulumi stores (T14)', () => {
  test('is small, loads only this package, and captures nothing', () => {
    expect(Buffer.byteLength(storedText)).toBeLessThan(2500);
    expect(storedText.match(/require\([^)]*\)/g)).toEqual(['require(`pulumi-muster/provider`)']);
    expect(storedText).not.toContain(process.cwd());
  });

  test('never changes: states that hold it must not show a difference after an upgrade', () => {
    expect(storedText).toMatchSnapshot();
  });

  test("is what Pulumi's own serializer makes of such a provider", async () => {
    const { text, containsSecrets } = await runtime.serializeFunction(() => provider, { allowSecrets: true });
    expect(storedText).toBe(text);
    expect(containsSecrets).toBe(false);
  });
});
