import { beforeEach, expect, test, vi } from 'vitest';
import { annotations, apiVersion } from '../../api/fleet/constants.ts';
import { ClusterGroups } from '../../api/fleet/kinds.ts';
import type { Props } from '../../provider/handler.ts';
import { unknownValue } from '../../provider/unknowns.ts';
import { inputsOf } from './dynamic-host.ts';
import { scriptedSetUp } from './scripted-set-up.ts';

vi.setConfig({ testTimeout: 120_000 });

const at = scriptedSetUp({ controllerManager: false });
let count = 0;
let name = '';
beforeEach(() => {
  name = `prod-${++count}`;
  at.hub.script.group = () => ({ clusterCount: 3, nonReadyClusterCount: 1, nonReadyClusters: ['west'] });
});

const key = () => ({ namespace: 'fleet-default', name });
const prod = { matchLabels: { env: 'prod' } };
const group = (more: Props = {}) => inputsOf('ClusterGroup', { metadata: { name }, selector: prod, ...more });

test('a group is created, counted, stays without changes, and goes', async () => {
  const stored = await at.host.create(group());
  expect(stored.initErrors).toBeUndefined();
  expect(stored.id).toBe(`fleet-default/${name}`);
  const counts = { clusterCount: 3, readyClusterCount: 2, nonReadyClusterCount: 1, nonReadyClusters: ['west'] };
  expect(stored.outputs).toMatchObject(counts);
  expect((await at.client.get(ClusterGroups, key())).spec).toEqual({ selector: prod });
  expect(await at.host.diff(stored, stored.inputs)).toEqual({
    changes: 'none',
    replaces: [],
    deleteBeforeReplace: false,
  });
  expect(await at.host.read(stored)).toMatchObject({ inputs: stored.inputs, outputs: stored.outputs });

  await at.host.delete(stored);
  await at.host.delete(stored);
  expect(await at.client.find(ClusterGroups, key())).toBeUndefined();
  expect(await at.host.read(stored)).toBeUndefined();
});

test('another selector is an update, another name a replacement, an unknown one neither refused nor hidden (T3, T5)', async () => {
  const stored = await at.host.create(group());
  const matchExpressions = [{ key: 'env', operator: 'In', values: ['prod', 'stage'] }];
  const wider = await at.host.checked(group({ selector: { matchExpressions } }), stored.inputs);
  expect(await at.host.diff(stored, wider)).toMatchObject({ changes: 'some', replaces: [] });
  const updated = await at.host.update(stored, wider);
  // One value: what the selector had before does not stay beside it.
  expect((await at.client.get(ClusterGroups, key())).spec).toEqual({ selector: { matchExpressions } });
  expect(updated.outputs['uid']).toBe(stored.outputs['uid']);
  const moved = await at.host.checked(group({ metadata: { name: 'other' } }), stored.inputs);
  expect(await at.host.diff(updated, moved)).toMatchObject({ replaces: ['metadata.name'], deleteBeforeReplace: true });
  const open = await at.host.checked(group({ selector: { matchLabels: { env: unknownValue } } }), stored.inputs);
  expect(await at.host.diff(updated, open)).toMatchObject({ changes: 'some', replaces: [] });
  await at.host.delete(updated);
});

test('an edit by hand shows, and is taken back (T12)', async () => {
  const stored = await at.host.create(group());
  await at.client.patch(
    ClusterGroups,
    key(),
    { spec: { selector: { matchLabels: { env: 'edited' } } } },
    { type: 'merge' },
  );
  const read = await at.host.read(stored);
  expect(read?.inputs['selector']).toEqual({ matchLabels: { env: 'edited' } });
  if (read === undefined) return;
  expect(await at.host.diff(read, stored.inputs)).toMatchObject({ changes: 'some', replaces: [] });
  const repaired = await at.host.update(read, stored.inputs);
  expect((await at.client.get(ClusterGroups, key())).spec).toEqual({ selector: prod });
  await at.host.delete(repaired);
});

test('one that nobody counts is kept, and told (T9); one of somebody else is not touched', async () => {
  at.hub.script.group = () => undefined;
  const stored = await at.host.create(group({ timeouts: { create: '1s' } }));
  expect(stored.initErrors?.[0]).toMatch(/TIMEOUT.*Is the hub running/);
  await at.host.delete(stored);

  await at.client.create(ClusterGroups, { apiVersion, kind: 'ClusterGroup', metadata: key(), spec: {} });
  await expect(at.host.create(group())).rejects.toThrow(/\[ALREADY_OWNED\].*kubectl annotate clustergroups/);
  const owner = { metadata: { annotations: { [annotations.owner]: 'demo/test' } } };
  await at.client.patch(ClusterGroups, key(), owner, { type: 'merge' });
  const adopted = await at.host.create(group({ awaitReady: false }));
  await at.host.delete(adopted);
});

test.each([
  [{ selector: null }, 'selector'],
  [{ selector: { matchExpressions: [{ operator: 'In' }] } }, 'selector.matchExpressions[0].key'],
  [{ metadata: { name: 'No' } }, 'metadata.name'],
])('given %j, the failure names %s (T1)', async (wrong, property) => {
  const { failures } = await at.host.check(group(wrong as Props));
  expect(failures.map((failure) => failure.property)).toEqual([property]);
});
