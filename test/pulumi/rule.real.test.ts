import { beforeEach, expect, test, vi } from 'vitest';
import { annotations } from '../../api/fleet/constants.ts';
import { apiVersion } from '../../api/muster/constants.ts';
import { RegistrationRules } from '../../api/muster/kinds.ts';
import type { Props } from '../../provider/handler.ts';
import { unknownValue } from '../../provider/unknowns.ts';
import { inputsOf } from './dynamic-host.ts';
import { takenUp } from './scripted-hub.ts';
import { scriptedSetUp } from './scripted-set-up.ts';

vi.setConfig({ testTimeout: 120_000 });

const at = scriptedSetUp({ controllerManager: false });
let count = 0;
let name = '';
beforeEach(() => {
  name = `edge-${++count}`;
  at.hub.script.rule = (rule) => ({ ...takenUp(rule), matched: 3, registered: 2, failed: 1 });
});

const edge = { matchLabels: { tier: 'edge' } };
const rule = (more: Props = {}) =>
  inputsOf('RegistrationRule', { metadata: { name }, source: { clusterAPI: {} }, selector: edge, ...more });
const live = async () => (await at.client.get(RegistrationRules, { name })).spec;

test('a rule is created and taken up, stays without changes, and goes', async () => {
  const registration = { mode: 'Agent', agent: { imagePullSecrets: ['pull'] }, labels: { pass: ['tier'] } };
  const stored = await at.host.create(rule({ registration }));
  expect(stored.initErrors).toBeUndefined();
  expect(stored.id).toBe(name);
  expect(stored.outputs).toMatchObject({ matched: 3, registered: 2, failed: 1, conditions: [{ type: 'Ready' }] });
  const agent = { imagePullSecrets: [{ name: 'pull' }] };
  expect(await live()).toMatchObject({
    source: { clusterAPI: {} },
    selector: edge,
    registration: { mode: 'Agent', agent, labels: { pass: ['tier'] } },
  });
  expect(await at.host.diff(stored, stored.inputs)).toEqual({
    changes: 'none',
    replaces: [],
    deleteBeforeReplace: false,
  });
  // What the API server has filled in is no difference.
  expect(await at.host.read(stored)).toMatchObject({ inputs: stored.inputs, outputs: stored.outputs });

  await at.host.delete(stored);
  await at.host.delete(stored);
  expect(await at.client.find(RegistrationRules, { name })).toBeUndefined();
  expect(await at.host.read(stored)).toBeUndefined();
});

test('counts are of the last look, and no change (T11)', async () => {
  const stored = await at.host.create(rule());
  at.hub.script.rule = (found) => ({ ...takenUp(found), matched: 200, registered: 200, failed: 0 });
  await at.client.patch(RegistrationRules, { name }, { metadata: { labels: { seen: 'yes' } } }, { type: 'merge' });
  const read = await vi.waitFor(async () => {
    const found = await at.host.read(stored);
    expect(found?.outputs).toMatchObject({ matched: 200, registered: 200, failed: 0 });
    return found;
  });
  if (read === undefined) return;
  expect(await at.host.diff(read, stored.inputs)).toMatchObject({ changes: 'none' });
  await at.host.delete(read);
});

test('a field is an update, the name a replacement, an unknown one neither refused nor hidden (T3, T5, T10)', async () => {
  const stored = await at.host.create(rule({ priority: 1 }));
  const news = await at.host.checked(rule({ selector: { matchLabels: { tier: 'core' } } }), stored.inputs);
  expect(await at.host.diff(stored, news)).toMatchObject({ changes: 'some', replaces: [] });
  const updated = await at.host.update(stored, news);
  expect(await live()).toEqual({ source: { clusterAPI: {} }, selector: { matchLabels: { tier: 'core' } } });
  expect(updated.outputs).toMatchObject({ uid: stored.outputs['uid'], matched: 3 });
  const moved = await at.host.checked(rule({ metadata: { name: 'other' } }), stored.inputs);
  expect(await at.host.diff(updated, moved)).toMatchObject({ replaces: ['metadata.name'], deleteBeforeReplace: true });
  const open = await at.host.checked(rule({ registration: { workspace: unknownValue } }), stored.inputs);
  expect(await at.host.diff(updated, open)).toMatchObject({ changes: 'some', replaces: [] });
  await at.host.delete(updated);
});

test('an edit by hand shows where it is declared, and is taken back (T12)', async () => {
  const stored = await at.host.create(rule({ onSourceDeleted: { delay: '1h' } }));
  const edit = { spec: { onSourceDeleted: { delay: '2h' }, suspend: true } };
  await at.client.patch(RegistrationRules, { name }, edit, { type: 'merge' });
  const read = await at.host.read(stored);
  expect(read?.inputs).toMatchObject({ onSourceDeleted: { delay: '2h' } });
  expect(read?.inputs).not.toHaveProperty('suspend');
  if (read === undefined) return;
  expect(await at.host.diff(read, stored.inputs)).toMatchObject({ changes: 'some', replaces: [] });
  const repaired = await at.host.update(read, stored.inputs);
  expect(await live()).toMatchObject({ onSourceDeleted: { delay: '1h' }, suspend: true });
  await at.host.delete(repaired);
});

test('one that nobody takes up is kept, and told; the next run goes on from there (T8, T9)', async () => {
  at.hub.script.rule = () => undefined;
  const stored = await at.host.create(rule({ timeouts: { create: '1s', update: '1s' } }));
  expect(stored.initErrors?.[0]).toMatch(/TIMEOUT.*RegistrationRule edge-\d+: .*Is the hub running/);
  // A form of the rule that the hub has not seen yet is not taken for the one that it has.
  at.hub.script.rule = (found) => ({ ...takenUp(found), observedGeneration: 0 });
  const again = await at.host.update(stored, rule({ timeouts: { create: '1s', update: '1s' }, priority: 2 }));
  expect(again.initErrors?.[0]).toMatch(/TIMEOUT/);
  at.hub.script.rule = takenUp;
  const done = await at.host.update(again, rule({ priority: 3 }));
  expect(done.initErrors).toBeUndefined();
  await at.host.delete(done);
});

test('what is wrong with the rule itself is told in the words of the hub', async () => {
  const ready = (reason: string, message: string) => ({ type: 'Ready', status: 'False', reason, message });
  const told = (reason: string, message: string) => {
    at.hub.script.rule = (found) => ({ ...takenUp(found), conditions: [ready(reason, message)] });
  };
  told('SourceKindMissing', 'no Cluster API here');
  const missing = await at.host.create(rule({ timeouts: { create: '1s' } }));
  expect(missing.initErrors?.[0]).toMatch(
    /TIMEOUT.*stuck at: Ready is False \(SourceKindMissing\): no Cluster API here/,
  );
  await at.host.delete(missing);

  told('InvalidSpec', 'selector is not valid');
  const invalid = await at.host.create(rule());
  expect(invalid.initErrors?.[0]).toMatch(/INVALID_ARGUMENT.*\(InvalidSpec\): selector is not valid/);
  await at.host.delete(invalid);

  // Clusters on their way are no fault of the rule.
  told('Pending', '0 of 3 registered');
  const pending = await at.host.create(rule());
  expect(pending.initErrors).toBeUndefined();
  await at.host.delete(pending);
});

test('one of somebody else is not touched until it is handed over', async () => {
  await at.client.create(RegistrationRules, {
    apiVersion,
    kind: 'RegistrationRule',
    metadata: { name },
    spec: { source: { clusterAPI: {} } },
  });
  await expect(at.host.create(rule())).rejects.toThrow(
    new RegExp(`\\[ALREADY_OWNED\\].*kubectl annotate registrationrules ${name} --overwrite`),
  );
  const owner = { metadata: { annotations: { [annotations.owner]: 'demo/test' } } };
  await at.client.patch(RegistrationRules, { name }, owner, { type: 'merge' });
  await at.host.delete(await at.host.create(rule()));
});

test.each([
  [{ source: null }, 'source'],
  [{ source: {} }, 'source'],
  [{ source: { clusterAPI: {}, clusterProfile: {} } }, 'source'],
  [{ source: { kubeconfigSecret: {} }, selector: null }, 'selector'],
  [{ metadata: { name: 'No' } }, 'metadata.name'],
  [{ metadata: { name: 'no', namespace: 'fleet-default' } }, 'metadata'],
  [{ registration: { mode: 'Push' } }, 'registration.mode'],
  [{ registration: { name: '{cluster}' } }, 'registration.name'],
  [{ registration: { agent: { tolerations: [{ key: 7 }] } } }, 'registration.agent.tolerations[0].key'],
  [{ registration: { wrkspace: 'a' } }, 'registration'],
  [{ onSourceDeleted: { delay: '1 day' } }, 'onSourceDeleted.delay'],
])('given %j, the failure names %s (T1)', async (wrong, property) => {
  const { failures } = await at.host.check(rule(wrong as Props));
  expect(failures.map((failure) => failure.property)).toEqual([property]);
});
