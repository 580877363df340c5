import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storedText } from '../../provider/resources/stored-text.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { pulumiEnvironment } from '../../tools/index.ts';
import { ControlPlane } from '../harness/index.ts';
import { PulumiEngine } from '../harness/pulumi-engine.ts';
import { ScriptedHub } from './scripted-hub.ts';

const run = promisify(execFile);
const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url));

let plane: ControlPlane;
let client: KubeClient;
let hub: ScriptedHub;
let folder: string;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'hub' });
  client = plane.client();
  hub = await ScriptedHub.start(client);
  folder = await mkdtemp(join(tmpdir(), 'muster-consumers-'));
  // What is published, without building it again: the tests run on a build.
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: repositoryRoot });
  const packed = JSON.parse(stdout) as { filename: string }[] | Record<string, { filename: string }>;
  const tarball = join(folder, Object.values(packed)[0]?.filename ?? '');
  // One installation above both programs: they declare the same, and Node.js and Pulumi look upwards.
  await cp(join(repositoryRoot, 'test', 'consumers', 'commonjs', 'package.json'), join(folder, 'package.json'));
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
  await run('npm', ['install', ...quiet, tarball], { cwd: folder });
}, 300_000);

afterAll(async () => {
  await hub?.close();
  await client?.close();
  await plane?.close();
  await rm(folder, { recursive: true, force: true });
});

describe.each(['commonjs', 'esm'])('a program of the form %s', (form) => {
  test('installs the package, type-checks, and runs on the engine with the same stored text (T20)', async () => {
    const project = join(folder, form);
    await cp(join(repositoryRoot, 'test', 'consumers', form), project, { recursive: true });
    await run(process.execPath, [join(folder, 'node_modules', 'typescript', 'bin', 'tsc'), '--noEmit'], {
      cwd: project,
    });

    const engine = await PulumiEngine.create({
      project,
      env: { ...(await pulumiEnvironment()), PULUMI_CONFIG_PASSPHRASE: 'test' },
    });
    try {
      await engine.configure('muster:hubKubeconfig', plane.kubeconfig, { secret: true });
      await engine.configure('kubeconfig', plane.kubeconfig, { secret: true });
      await engine.configure('name', form);
      expect((await engine.preview()).output).toContain('ClusterRegistrationToken');
      await engine.up();
      expect(await engine.outputs()).toMatchObject({ ready: true, form: 1, components: ['Agent', 'Hub'] });
      await engine.preview('--expect-no-changes');
      const state = JSON.parse(await engine.storedState()) as {
        checkpoint: { latest: { resources: StateResource[] } };
      };
      const texts = state.checkpoint.latest.resources.flatMap(({ inputs }) => inputs?.__provider ?? []);
      expect(new Set(texts)).toEqual(new Set([storedText]));
      await engine.destroy();
    } finally {
      await engine.close();
    }
    expect(
      JSON.parse(await readFile(join(folder, 'node_modules', 'pulumi-muster', 'package.json'), 'utf8')),
    ).toMatchObject({
      name: 'pulumi-muster',
    });
  }, 300_000);
});

interface StateResource {
  readonly inputs?: { readonly __provider?: string };
}
