/**
 * `cdk8s import` on the definitions that `muster synth` writes: what it generates compiles in strict mode, can say every
 * field of every kind, and what programs say with it reaches a real API server unchanged.
 */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { objectSchema } from '../../api/crd.ts';
import { maximalObjects } from '../../api/fleet/testdata/index.ts';
import { fleetDescriptors } from '../../api/fleet/index.ts';
import { musterDescriptors } from '../../api/muster/index.ts';
import type { KubeObject } from '../../api/resource.ts';
import { covers } from '../../runtime/kube/apply.ts';
import { ControlPlane, currentRun } from '../harness/index.ts';
import { expressionOf, readImportedTypes } from './imported-types.ts';
import type { ImportedTypes } from './imported-types.ts';
import { run } from './shell.ts';
import { openShell } from './stage.ts';
import { rules } from './maximal-rules.ts';

const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url));
const objects: readonly KubeObject[] = [...maximalObjects, ...rules];
const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.name ?? ''}`;
/** What a user declares: controllers write the rest. */
const declared = (object: KubeObject): KubeObject => {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  return rest;
};

/** Generated files, by the name under which the program imports them. */
const modules = { fleet: 'fleet.cattle.io', muster: 'muster.dev' } as const;
type ModuleName = keyof typeof modules;
const moduleOf = ({ apiVersion }: KubeObject): ModuleName =>
  apiVersion.startsWith('fleet.cattle.io/') ? 'fleet' : 'muster';

/** A program of a user: one statement for each object, in the words of the generated types. */
function programOf(imported: Readonly<Record<ModuleName, ImportedTypes>>): string {
  const statements = objects.map((object) => {
    const { apiVersion: _, kind, ...props } = declared(object);
    const module = moduleOf(object);
    const written = expressionOf(props, `${kind}Props`, imported[module], module);
    return `new ${module}.${kind}(chart, ${JSON.stringify(nameOf(object))}, ${written});`;
  });
  return [
    `import { App, Chart } from 'cdk8s';`,
    ...Object.entries(modules).map(([name, file]) => `import * as ${name} from './imports/${file}';`),
    `const app = new App();`,
    `const chart = new Chart(app, 'every-kind');`,
    ...statements,
    `app.synth();`,
  ].join('\n');
}

/** As `cdk8s init typescript-app` sets the compiler, and stricter. */
const compilerOptions = {
  target: 'es2022',
  module: 'commonjs',
  moduleResolution: 'bundler',
  strict: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noImplicitReturns: true,
  noImplicitOverride: true,
  noFallthroughCasesInSwitch: true,
  noEmitOnError: true,
  skipLibCheck: true,
  types: [],
};

let plane: ControlPlane;
let dir: string;
let env: NodeJS.ProcessEnv;
let imported: Record<ModuleName, ImportedTypes>;
let synthesized: KubeObject[];

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'cdk8s-import', controllerManager: false });
  ({ env } = await openShell({ hub: plane }));
  env['PATH'] = `${join(repositoryRoot, 'node_modules', '.bin')}:${env['PATH'] ?? ''}`;
  dir = (await currentRun()).makeDir('cdk8s-import');
  symlinkSync(join(repositoryRoot, 'node_modules'), join(dir, 'node_modules'));
  writeFileSync(join(dir, 'package.json'), '{ "private": true }');
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
  await run('muster synth crds --out . && cdk8s import crds.yaml --language typescript', { cwd: dir, env });
  const read = (file: string) => readImportedTypes(readFileSync(join(dir, 'imports', `${file}.ts`), 'utf8'));
  imported = { fleet: read(modules.fleet), muster: read(modules.muster) };
  writeFileSync(join(dir, 'main.ts'), programOf(imported));
  await run('tsc -p . && node main.js', { cwd: dir, env });
  const text = readFileSync(join(dir, 'dist', 'every-kind.k8s.yaml'), 'utf8');
  synthesized = parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}, 180_000);
afterAll(() => plane?.close());

describe.each([...fleetDescriptors, ...musterDescriptors].map((each) => [each.kind, each] as const))(
  'the imported class %s',
  (kind, descriptor) => {
    it('has a member for each field, and a type for each but those that take anything', () => {
      const types = imported[descriptor.group === 'muster.dev' ? 'muster' : 'fleet'];
      const members = types.interfaces.get(`${kind}Props`);
      const { apiVersion: _, kind: __, status: ___, ...fields } = objectSchema(descriptor).properties ?? {};
      expect([...(members?.keys() ?? [])].sort()).toEqual(Object.keys(fields).sort());
      const untyped = [...types.interfaces]
        .filter(([name]) => name.startsWith(kind))
        .flatMap(([, all]) => [...all].filter(([, { type }]) => type === 'any').map(([wire]) => wire));
      expect(untyped.filter((wire) => !['values', 'templateValues'].includes(wire))).toEqual([]);
    });
  },
);

describe('objects that a program makes with the imported classes', () => {
  it('say all that the wire can say', () => {
    expect(synthesized.map(nameOf).sort()).toEqual(objects.map(nameOf).sort());
    for (const object of objects) {
      const made = synthesized.find((each) => nameOf(each) === nameOf(object));
      // cdk8s leaves null out, wherever it stands.
      expect(made, nameOf(object)).toEqual(withoutNulls(declared(object)));
    }
  });

  it('are taken by the API server in strict mode, and kept', async () => {
    const file = join(dir, 'dist', 'every-kind.k8s.yaml');
    const apply = `kubectl --context hub --namespace default apply --server-side --validate=strict --filename`;
    await run(`${apply} crds.yaml && kubectl --context hub wait --for condition=Established --filename crds.yaml`, {
      cwd: dir,
      env,
    });
    await run(`${apply} ${file}`, { cwd: dir, env });
    const stored = JSON.parse(
      await run(`kubectl --context hub --namespace default get --output json --filename ${file}`, { cwd: dir, env }),
    ) as { items: KubeObject[] };
    expect(stored.items).toHaveLength(objects.length);
    for (const object of synthesized) {
      const kept = stored.items.find((each) => nameOf(each) === nameOf(object));
      expect(covers(kept, object), nameOf(object)).toBe(true);
    }
  });
});

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutNulls(each)]));
}
