import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../api/resource.ts';
import { createProgram } from './program.ts';

let dir: string;
let output: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-synth-'));
  output = '';
});
afterEach(() => rmSync(dir, { recursive: true }));

async function run(...argv: string[]): Promise<void> {
  const program = createProgram((text) => {
    output += text;
  });
  program.commands.forEach((command) => command.configureOutput({ writeErr: () => undefined }));
  await program.parseAsync(argv, { from: 'user' });
}
const objects = (text: string): KubeObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}
const find = (kind: string, name: string) =>
  objects(output).find((object) => object.kind === kind && object.metadata.name === name) as
    (KubeObject & { data: Record<string, string> }) | undefined;

describe('given muster synth', () => {
  test('when a folder is named, then there is one file per set, and the same bytes again', async () => {
    await run('synth', '--out', join(dir, 'out'));
    const read = () =>
      readdirSync(join(dir, 'out')).map((name) => [name, readFileSync(join(dir, 'out', name), 'utf8')]);
    const first = read();
    expect(first.map(([name]) => name)).toEqual(['agent.yaml', 'crds.yaml', 'hub.yaml']);
    await run('synth', '--out', join(dir, 'out'));
    expect(read()).toEqual(first);
    for (const [, text = ''] of first) expect(objects(text).every(({ metadata }) => metadata.name)).toBe(true);
  });

  test('when no folder is named, then the set is printed', async () => {
    await run('synth', 'crds');
    expect(objects(output).map(({ kind }) => kind)).toContain('CustomResourceDefinition');
  });

  test('when flags and properties are given, then the flags win', async () => {
    const props = file(
      'props.yaml',
      'image: from-file\nconfig: {apiServerURL: "https://file", agentCheckinInterval: 5m}\n',
    );
    const ca = file('ca.pem', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');
    const flags = ['--api-server-url', 'https://flag', '--api-server-ca', ca, '--workspace', 'team-a'];
    await run('synth', 'hub', '--props', props, ...flags);
    const config: unknown = JSON.parse(find('ConfigMap', 'fleet-controller')?.data['config'] ?? '');
    expect(config).toMatchObject({
      apiServerURL: 'https://flag',
      apiServerCA: readFileSync(ca).toString('base64'),
      agentCheckinInterval: '5m',
      agentImage: 'from-file',
    });
    expect(find('Namespace', 'team-a')).toBeDefined();
    expect(find('Namespace', 'fleet-default')).toBeUndefined();
  });

  test('when values of a token are given, then the file with the credential is for its owner only', async () => {
    const values = file(
      'values.yaml',
      'apiServerCA: ""\napiServerURL: https://hub\nclusterNamespace: fleet-default\nsystemRegistrationNamespace: r\n' +
        'token: secret-token\ntokenName: t\n',
    );
    await run('synth', 'agent', '--values', values, '--label', 'env=dev', '--client-id', 'c', '--out', dir);
    const path = join(dir, 'agent.yaml');
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(objects(readFileSync(path, 'utf8')).map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['Secret', 'ConfigMap']),
    );
  });

  test('when a cluster is asked for, then it is one object that refers to its kubeconfig', async () => {
    const props = file('props.yaml', 'agent: {namespace: agents}\nlabels: {a: b, env: old}\n');
    const flags = ['--name', 'east', '--kubeconfig-secret', 'east-kubeconfig', '--label', 'env=dev'];
    await run('synth', 'cluster', '--props', props, ...flags);
    expect(objects(output)).toEqual([
      {
        apiVersion: 'fleet.cattle.io/v1alpha1',
        kind: 'Cluster',
        metadata: { name: 'east', namespace: 'fleet-default', labels: { a: 'b', env: 'dev' } },
        spec: { kubeConfigSecret: 'east-kubeconfig', agentNamespace: 'agents' },
      },
    ]);
  });

  test.each([
    ['a cluster without a name', ['synth', 'cluster', '--client-id', 'x']],
    ['a cluster without a way to register', ['synth', 'cluster', '--name', 'east']],
    ['properties without a set', ['synth', '--props', 'x']],
    ['a label without a value', ['synth', 'agent', '--label', 'env']],
    ['a file that is not there', ['synth', 'hub', '--api-server-ca', '/nonexistent/ca.pem']],
  ])('when it is given %s, then that is refused', async (_, argv) => {
    await expect(run(...argv)).rejects.toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error);
  });
});

test('given muster version, when it runs, then it prints the version', async () => {
  await run('version');
  expect(output).toBe('0.1.0\n');
});
