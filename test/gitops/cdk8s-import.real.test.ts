/**
 * `cdk8s import` on the definitions that `muster synth` writes: what it generates compiles in strict mode, can say every
 * field of every kind, and what programs say with it reaches a real API server unchanged.
 */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { objectSchema } from '../../api/crd.ts';
import { maximalObjects } from '../../api/fleet/testdata/index.ts';
import { fleetDescriptors } from '../../api/fleet/index.ts';
import { musterDescriptors, registrationRuleDescriptor } from '../../api/muster/index.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { fieldPaths } from '../../api/structural-lint.ts';
import { toYaml } from '../../components/yaml.ts';
import { covers } from '../../runtime/kube/apply.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane, currentRun } from '../harness/index.ts';
import { expressionOf, readImportedTypes } from './imported-types.ts';
import type { ImportedTypes } from './imported-types.ts';
import { run } from './shell.ts';
import { openShell } from './stage.ts';
import { rules } from './maximal-rules.ts';

const descriptors: readonly ResourceType[] = [...fleetDescriptors, ...musterDescriptors];
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
    `import { writeFileSync } from 'node:fs';`,
    `import { App, Chart } from 'cdk8s';`,
    ...Object.entries(modules).map(([name, file]) => `import * as ${name} from './imports/${file}';`),
    `const chart = new Chart(new App(), 'every-kind');`,
    ...statements,
    // As JSON: cdk8s writes U+2028 into its YAML as it is, which readers of YAML 1.1 take for the end of a line.
    `const list = { apiVersion: 'v1', kind: 'List', items: chart.toJson() };`,
    `writeFileSync('every-kind.json', JSON.stringify(list));`,
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
  types: ['node'],
};

let plane: ControlPlane;
let admin: KubeClient;
let dir: string;
let env: NodeJS.ProcessEnv;
let imported: Record<ModuleName, ImportedTypes>;
let synthesized: KubeObject[];

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'cdk8s-import', controllerManager: false });
  admin = plane.client();
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
  synthesized = (JSON.parse(readFileSync(join(dir, 'every-kind.json'), 'utf8')) as { items: KubeObject[] }).items;
}, 180_000);
afterAll(async () => {
  await admin?.close();
  await plane?.close();
});

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
      expect(untyped.filter((wire) => !['values', 'templateValues', 'clusterAPI'].includes(wire))).toEqual([]);
    });
  },
);

describe('objects that a program makes with the imported classes', () => {
  it('say all that the wire can say', () => {
    const paths = [...fieldPaths(objectSchema(registrationRuleDescriptor)).keys()].filter((path) =>
      path.startsWith('.spec'),
    );
    expect(paths.filter((path) => !rules.some((rule) => reaches(rule, path)))).toEqual([]);
    expect(synthesized.map(nameOf).sort()).toEqual(objects.map(nameOf).sort());
    for (const object of objects) {
      const made = synthesized.find((each) => nameOf(each) === nameOf(object));
      // cdk8s leaves null out, wherever it stands.
      expect(made, nameOf(object)).toEqual(withoutNulls(declared(object)));
    }
  });

  it('are taken by the API server in strict mode, and kept', async () => {
    const apply = `kubectl --context hub --namespace default apply --server-side --validate=strict --filename`;
    const established = `kubectl --context hub wait --for condition=Established --filename crds.yaml`;
    await run(`${apply} crds.yaml && ${established} && ${apply} every-kind.json`, { cwd: dir, env });

    for (const object of synthesized) expect(covers(await stored(object), object), nameOf(object)).toBe(true);
  }, 120_000);

  it('are the same when they come as the YAML of muster synth', async () => {
    writeFileSync(join(dir, 'every-kind.yaml'), toYaml(objects.map(declared)));
    const apply = `kubectl --context hub --namespace default apply --server-side --validate=strict`;
    await run(`${apply} --field-manager synth --force-conflicts --filename every-kind.yaml`, { cwd: dir, env });

    for (const object of objects.map(declared)) {
      expect(covers(await stored(object), object), nameOf(object)).toBe(true);
    }
  }, 120_000);
});

async function stored(object: KubeObject): Promise<KubeObject> {
  const descriptor = descriptors.find(({ kind }) => kind === object.kind);
  if (descriptor === undefined) throw new Error(`no kind ${object.kind}`);
  const { name = '' } = object.metadata;
  return await admin.get(descriptor, descriptor.namespaced ? { namespace: 'default', name } : { name });
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutNulls(each)]));
}

/** Whether a value has something at a path such as `.spec.list[].map{}`. */
function reaches(value: unknown, path: string): boolean {
  const steps = path.match(/\.[^.[{]+|\[\]|\{\}/g) ?? [];
  const ends = steps.reduce<unknown[]>(
    (all, step) =>
      all.flatMap((at) => {
        const record = (at ?? {}) as Record<string, unknown>;
        return step.startsWith('.') ? [record[step.slice(1)]] : Object.values(record);
      }),
    [value],
  );
  return ends.some((end) => end !== undefined);
}
