import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ClusterRegistrationTokens } from '../../api/fleet/kinds.ts';
import { parseValues } from '../../api/fleet/bootstrap-values.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import type { Props } from '../../provider/handler.ts';
import { inputsOf } from './dynamic-host.ts';
import { scriptedSetUp } from './scripted-set-up.ts';

// Whole installations on a control plane of two cores that other tests use as well.
vi.setConfig({ testTimeout: 120_000 });

const at = scriptedSetUp();
let count = 0;
let name = '';
beforeEach(() => {
  name = `stores-${++count}`;
  at.hub.script.tokens = true;
});

const key = () => ({ namespace: 'fleet-default', name });
const token = (more: Props = {}) => inputsOf('ClusterRegistrationToken', { metadata: { name }, ...more });

describe('a token', () => {
  test('is created with its values, stays without changes, and takes its credential along when deleted', async () => {
    const stored = await at.host.create(token({ ttl: '12h' }));
    expect(stored.initErrors).toBeUndefined();
    expect(stored.outputs).toMatchObject({ secretName: name, expired: false, ttl: '12h' });
    expect(parseValues(String(stored.outputs['values'])).token).toBe(at.hub.issued.at(-1));
    const created = Date.parse(
      (await at.client.get(ClusterRegistrationTokens, key())).metadata.creationTimestamp ?? '',
    );
    expect(Date.parse(String(stored.outputs['expires']))).toBe(created + 12 * 3_600_000);
    expect(await at.host.diff(stored, stored.inputs)).toMatchObject({ changes: 'none', replaces: [] });
    expect(await at.host.read(stored)).toMatchObject({ inputs: stored.inputs, outputs: stored.outputs });

    await at.host.delete(stored);
    expect(await at.client.find(ClusterRegistrationTokens, key())).toBeUndefined();
    expect(await at.client.find(Secrets, key())).toBeUndefined();
    await at.host.delete(stored);
  });

  test('keeps its values when only a label changes (T10)', async () => {
    const stored = await at.host.create(token());
    const updated = await at.host.update(stored, token({ metadata: { name, labels: { env: 'dev' } } }));
    expect(updated.outputs['values']).toBe(stored.outputs['values']);
    expect(updated.outputs['expires']).toBe('');
    await at.host.delete(updated);
  });

  test('takes a new ttl as an update (T5)', async () => {
    const stored = await at.host.create(token({ ttl: '12h' }));
    const news = await at.host.checked(token({ ttl: '24h' }), stored.inputs);
    expect(await at.host.diff(stored, news)).toEqual({ changes: 'some', replaces: [], deleteBeforeReplace: false });
    const updated = await at.host.update(stored, news);
    const longer = Date.parse(String(updated.outputs['expires'])) - Date.parse(String(stored.outputs['expires']));
    expect(longer).toBe(12 * 3_600_000);
    await at.host.delete(updated);
  });

  test.each(['forever', '-1h', '1 day', ''])('refuses the ttl %j with its path (T1)', async (ttl) => {
    const { failures } = await at.host.check(token({ ttl }));
    expect(failures[0]?.property).toBe('ttl');
  });

  test('that nobody answers is kept, and told (T9)', async () => {
    at.hub.script.tokens = false;
    const stored = await at.host.create(token({ timeouts: { create: '1s' } }));
    expect(stored.initErrors?.[0]).toMatch(/TIMEOUT.*Is the hub running/);
    await at.host.delete(stored);
  });
});

describe('an expired token (T22)', () => {
  test('is reported as expired, not as gone, and renewed by an update', async () => {
    const stored = await at.host.create(token({ ttl: '1s' }));
    await pause(1100);
    // Known by the clock, before anybody has looked.
    expect(await at.host.diff(stored, stored.inputs)).toEqual({
      changes: 'some',
      replaces: [],
      deleteBeforeReplace: false,
    });
    // A hub deletes it.
    await at.client.delete(ClusterRegistrationTokens, key());
    const read = await at.host.read(stored);
    expect(read?.outputs).toMatchObject({ expired: true });
    if (read === undefined) return;

    const news = await at.host.checked(token({ ttl: '1h' }), stored.inputs);
    const renewed = await at.host.update(read, news);
    expect(renewed.id).toBe(stored.id);
    expect(renewed.outputs).toMatchObject({ expired: false });
    expect(renewed.outputs['values']).not.toBe(stored.outputs['values']);
    await at.host.delete(renewed);
  });

  test('that the hub has not deleted yet is made anew, too', async () => {
    const stored = await at.host.create(token({ ttl: '1s' }));
    await pause(1100);
    const renewed = await at.host.update(stored, token({ ttl: '2h' }));
    expect(renewed.outputs['uid']).not.toBe(stored.outputs['uid']);
    await at.host.delete(renewed);
  });

  test('for one use says so on the wire; used and gone, it is over and stays so until it is to be renewed', async () => {
    const stored = await at.host.create(token({ oneUse: true }));
    const mark = () =>
      at.client
        .get(ClusterRegistrationTokens, key())
        .then(({ metadata }) => metadata.annotations?.['muster.dev/one-use']);
    expect(await mark()).toBe('true');
    expect(stored.inputs).toMatchObject({ renew: false });
    // What the hub does after the first heartbeat.
    await at.client.delete(ClusterRegistrationTokens, key());
    const read = await at.host.read(stored);
    expect(read?.outputs).toMatchObject({ expired: true, values: stored.outputs['values'] });
    if (read === undefined) return;
    expect(await at.host.diff(read, stored.inputs)).toMatchObject({ changes: 'none' });
    const labelled = await at.host.update(read, token({ oneUse: true, metadata: { name, labels: { a: 'b' } } }));
    expect(await at.client.find(ClusterRegistrationTokens, key())).toBeUndefined();

    const renewed = await at.host.update(labelled, token({ oneUse: true, renew: true }));
    expect(renewed.outputs).toMatchObject({ expired: false });
    expect(renewed.outputs['values']).not.toBe(stored.outputs['values']);
    const forAll = await at.host.update(renewed, token());
    expect(await mark()).toBeUndefined();
    expect(forAll.outputs['values']).toBe(renewed.outputs['values']);
    await at.host.delete(forAll);
  });

  test('whose use is over is left alone', async () => {
    const stored = await at.host.create(token({ ttl: '1s', renew: false }));
    await pause(1100);
    expect(await at.host.diff(stored, stored.inputs)).toMatchObject({ changes: 'none' });
    await at.host.delete(stored);
  });
});
