import { TypeGenerator } from 'json2jsii';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { objectSchema } from '../crd.ts';
import type { StructuralSchema } from '../crd.ts';
import { fleetDescriptors } from './index.ts';

/**
 * What `cdk8s import crds.yaml` writes for a kind: its generator is json2jsii, which is given the schema without
 * apiVersion, kind and status, and with its own metadata.
 */
function importedSource(kind: string, schema: StructuralSchema): string {
  const { apiVersion: _, kind: __, status: ___, metadata: ____, ...properties } = schema.properties ?? {};
  const types = new TypeGenerator({});
  types.emitCustomType('ApiObjectMetadata', () => undefined);
  const definition = {
    ...schema,
    properties: { metadata: { $ref: '#/definitions/ApiObjectMetadata' }, ...properties },
  };
  types.emitType(`${kind}Props`, definition as Parameters<typeof types.emitType>[1], kind);
  return `import type { ApiObjectMetadata } from 'cdk8s';\n${types.render()}`;
}

/** The generator writes names its own way (apiServerUrl) and maps them back to those of the wire. */
const names = (list: readonly string[]): string[] => list.map((name) => name.toLowerCase()).sort();

/** Property names of the generated interface. */
function propertiesOf(source: ts.SourceFile, name: string): string[] {
  const found = source.statements.find((node) => ts.isInterfaceDeclaration(node) && node.name.text === name);
  if (!found || !ts.isInterfaceDeclaration(found)) throw new Error(`no interface ${name}`);
  return names(found.members.map((member) => member.name?.getText(source) ?? ''));
}

describe.each(fleetDescriptors.map((descriptor) => [descriptor.kind, descriptor] as const))(
  'what cdk8s import makes of %s',
  (kind, descriptor) => {
    const schema = objectSchema(descriptor);
    const text = importedSource(kind, schema);
    const source = ts.createSourceFile(`${kind}.ts`, text, ts.ScriptTarget.ES2022, true);

    it('is TypeScript without mistakes', () => {
      const { diagnostics } = ts.transpileModule(text, { reportDiagnostics: true });
      expect(diagnostics).toEqual([]);
    });

    it('has all fields, and a type of its own for each object', () => {
      const top = Object.keys(schema.properties ?? {}).filter(
        (name) => !['apiVersion', 'kind', 'status'].includes(name),
      );
      expect(propertiesOf(source, `${kind}Props`)).toEqual(names(top));
      const spec = schema.properties?.['spec'];
      if (spec) expect(propertiesOf(source, `${kind}Spec`)).toEqual(names(Object.keys(spec.properties ?? {})));
    });

    it('leaves no field untyped but those that take anything', () => {
      const untyped = text.split('\n').filter((line) => /^\s+readonly \w+\?: any;/.test(line));
      const free = untyped.map((line) => line.trim().replace('readonly ', '').replace('?: any;', ''));
      expect(free.filter((name) => !['values', 'templateValues', 'maxUnavailable'].includes(name))).toEqual([]);
    });
  },
);
