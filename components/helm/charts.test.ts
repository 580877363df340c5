import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { synthCrds } from '../fleet/index.ts';
import { agentChart, crdsChart, hubChart } from './index.ts';
import type { ChartFile } from './index.ts';
import { Expression, raw, toTemplate } from './template.ts';

const image = 'muster:test';
const text = (files: readonly ChartFile[], path: string): string =>
  files.find((file) => file.path === path)?.text ?? '';
const paths = (files: readonly ChartFile[]): string[] => files.map(({ path }) => path);

describe('given a value with expressions', () => {
  test('when written, then each form is what helm reads', () => {
    const written = toTemplate({
      a: Expression.scalar('$.Values.a | quote'),
      b: { c: Expression.block('$.Values.c'), d: [{ e: 1, f: Expression.optionalBlock('$.Values.f') }] },
      g: Expression.optionalScalar('$.Values.g'),
      h: Expression.text('include "h" $'),
      i: [{ j: Expression.lines('{{- if x }}\n- y\n{{- end }}\n') }],
    });
    expect(written).toMatchSnapshot();
  });

  test('when a text has braces or a placeholder, then the first stay and the second is quoted', () => {
    expect(toTemplate({ a: 'x {{ y', b: 'ns-0', c: 'in ns-0-long too' }, { 'ns-0': '$.N', 'ns-0-long': '$.L' })).toBe(
      'a: x {{ "{{" }} y\nb: "{{ $.N }}"\nc: "in {{ $.L }} too"\n',
    );
    expect(() => raw('a`b')).toThrow('backquote');
  });
});

describe('given the chart of a hub', () => {
  const files = hubChart({ image, config: { apiServerURL: 'https://hub', agentCheckinInterval: '5m' } });

  test('what values decide is as recorded', () => {
    expect(paths(files)).toEqual([...paths(files)].sort());
    // Rights and policies are recorded where they are made.
    const names = ['_helpers.tpl', 'configmaps.yaml', 'deployments.yaml', 'namespaces.yaml', 'NOTES.txt'];
    const recorded = ['Chart.yaml', 'values.yaml', 'values.schema.json', ...names.map((name) => `templates/${name}`)];
    expect(Object.fromEntries(recorded.map((path) => [path, text(files, path)]))).toMatchSnapshot();
  });

  test('no name of a placeholder is left, and the namespace of the release is not made', () => {
    for (const file of files) expect(file.text, file.path).not.toMatch(/helm-(ns|workspace|expression)-/);
    expect(text(files, 'templates/namespaces.yaml').match(/kind: Namespace/g)).toHaveLength(2);
  });

  test('its values have a comment and a schema each, and hold what was given', () => {
    const values = parse(text(files, 'values.yaml')) as Record<string, unknown>;
    const schema = JSON.parse(text(files, 'values.schema.json')) as { properties: Record<string, unknown> };
    expect(Object.keys(schema.properties).sort()).toEqual([...Object.keys(values), 'global'].sort());
    expect(values).toMatchObject({
      image,
      replicas: 1,
      apiServerURL: 'https://hub',
      config: { agentCheckinInterval: '5m' },
      workspaces: ['fleet-default', 'fleet-local'],
    });
  });

  test('the same again is the same bytes', () => {
    expect(hubChart({ config: { agentCheckinInterval: '5m', apiServerURL: 'https://hub' }, image })).toEqual(files);
  });

  test('a hub that registers its own cluster can lock the default account there', () => {
    const local = hubChart({ image, config: { bootstrap: { namespace: 'fleet-local' } } });
    expect(text(local, 'values.yaml')).toContain('lockDefaultAccount: false');
    expect(text(local, 'templates/serviceaccounts.yaml')).toContain('if $.Values.lockDefaultAccount');
    expect(text(local, 'templates/namespaces.yaml')).toContain('without (uniq $.Values.workspaces) "fleet-local"');
  });
});

describe('given the chart of an agent', () => {
  test('it is as recorded, and takes the values of a token', () => {
    const files = agentChart({ image, clientID: 'store-17', labels: { env: 'edge' } });
    expect(Object.fromEntries(files.map((file) => [file.path, file.text]))).toMatchSnapshot();
    for (const file of files) expect(file.text, file.path).not.toMatch(/helm-(ns|expression)-|placeholder/);
    expect(parse(text(files, 'values.yaml'))).toMatchObject({
      token: '',
      clientID: 'store-17',
      labels: { env: 'edge' },
    });
  });

  test('with a source of its token, it has that instead', () => {
    const externalSecret = { secretStoreRef: { name: 'vault' }, remoteRef: { key: 'fleet/stores' } };
    const files = agentChart({ image, bootstrapSecret: { externalSecret } });
    expect(paths(files)).toContain('templates/externalsecrets.yaml');
    expect(paths(files)).not.toContain('templates/secrets.yaml');
    expect(parse(text(files, 'values.yaml'))).not.toHaveProperty('token');
  });

  test.each<[string, () => unknown]>([
    ['namespace', () => agentChart({ image, namespace: 'a' })],
    ['namespace', () => hubChart({ image, config: {}, namespace: 'a' })],
    ['bootstrap', () => agentChart({ image, bootstrap: {} as never })],
    ['hubAddress', () => agentChart({ image, hubAddress: { url: 'https://a', ca: '' } })],
  ])('a prop that a chart cannot have (%s) is refused', (where, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', where }) as Error);
  });
});

test('given the definitions, when they are a chart, then helm upgrades them and never removes them', () => {
  const files = crdsChart(synthCrds());
  const definitions = text(files, 'templates/customresourcedefinitions.yaml');
  expect(paths(files).some((path) => path.startsWith('crds/'))).toBe(false);
  expect(definitions.match(/helm\.sh\/resource-policy: keep/g)).toHaveLength(synthCrds().length);
});
