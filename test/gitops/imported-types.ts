/**
 * What `cdk8s import` generated, read as TypeScript; and an object of the wire as the expression that a program would
 * write with those types. The compiler then says whether types and values fit.
 */
import ts from 'typescript';

interface Member {
  /** In the generated interface, such as `apiServerUrl`. */
  readonly name: string;
  readonly type: string;
}

/** Declarations of one generated file. */
export interface ImportedTypes {
  /** By name of the interface, then by name on the wire. */
  readonly interfaces: ReadonlyMap<string, ReadonlyMap<string, Member>>;
  /** By name of the enum, then by value. */
  readonly enums: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Classes of objects, and of values that are a number or a text. */
  readonly classes: ReadonlySet<string>;
}

export function readImportedTypes(text: string): ImportedTypes {
  const source = ts.createSourceFile('imported.ts', text, ts.ScriptTarget.ES2022, true);
  const interfaces = new Map<string, Map<string, Member>>();
  const enums = new Map<string, Map<string, string>>();
  const classes = new Set<string>();
  for (const node of source.statements) {
    if (ts.isInterfaceDeclaration(node)) interfaces.set(node.name.text, membersOf(node, source));
    if (ts.isEnumDeclaration(node)) enums.set(node.name.text, valuesOf(node, source));
    if (ts.isClassDeclaration(node) && node.name !== undefined) classes.add(node.name.text);
  }
  return { interfaces, enums, classes };
}

/** The name on the wire is in the comment: `@schema ClusterSpec#clientID`. */
function membersOf(node: ts.InterfaceDeclaration, source: ts.SourceFile): Map<string, Member> {
  return new Map(
    node.members.filter(ts.isPropertySignature).map((member) => {
      const wire = /@schema \S+#(\S+)/.exec(member.getFullText(source))?.[1] ?? '';
      return [wire, { name: member.name.getText(source), type: member.type?.getText(source) ?? 'any' }];
    }),
  );
}

function valuesOf(node: ts.EnumDeclaration, source: ts.SourceFile): Map<string, string> {
  return new Map(
    node.members.map((member) => {
      const value = member.initializer;
      const text = value !== undefined && ts.isStringLiteral(value) ? value.text : (value?.getText(source) ?? '');
      return [text, member.name.getText(source)];
    }),
  );
}

/** `value` as a program writes it where `type` is wanted; `module` is the name under which the file is imported. */
export function expressionOf(value: unknown, type: string, types: ImportedTypes, module: string): string {
  const inner = (each: unknown, of: string): string => expressionOf(each, of, types, module);
  if (value === null) return 'null';
  if (type.endsWith('[]') && Array.isArray(value)) {
    return `[${value.map((item) => inner(item, type.slice(0, -'[]'.length))).join(', ')}]`;
  }
  const map = /^\{ \[key: string\]: (.+) \}$/.exec(type);
  const record = value as Record<string, unknown>;
  if (map) return objectOf(Object.entries(record).map(([key, each]) => [key, inner(each, map[1] ?? 'any')]));
  const members = types.interfaces.get(type);
  if (members) {
    const entries = Object.entries(record).map(([wire, each]): [string, string] => {
      const member = members.get(wire);
      if (member === undefined) throw new Error(`${type} has no member for ${wire}`);
      return [member.name, inner(each, member.type)];
    });
    return objectOf(entries);
  }
  const values = types.enums.get(type);
  if (values) return `${module}.${type}.${values.get(String(value)) ?? `/* no member for ${String(value)} */`}`;
  if (types.classes.has(type)) {
    return `${module}.${type}.${typeof value === 'number' ? 'fromNumber' : 'fromString'}(${JSON.stringify(value)})`;
  }
  if (type === 'Date') return `new Date(${JSON.stringify(value)})`;
  return JSON.stringify(value);
}

function objectOf(entries: readonly (readonly [string, string])[]): string {
  return `{ ${entries.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')} }`;
}
