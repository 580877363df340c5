import { describe, expect, it } from 'vitest';
import { durations } from '../../../api/durations.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { awaitAnswer, pollDelay, readAnswer } from './answer.ts';
import { Wake } from './wake.ts';

const secret = (data: Record<string, string>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'c-1' },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});
const full = { token: 't', clusterNamespace: 'w', clusterName: 'c', deploymentNamespace: 'd' };
const request = { clientID: 'id', clientRandom: 'random', createdAt: new Date().toISOString(), for: 'x' };
const refusal = (status: number): ApiError => new ApiError('GET', { status, reason: '' });

/** A hub that gives one of `replies` after the other, the last one for ever. */
function hub(...replies: (Secret | Error)[]): KubeClient & { looks: number } {
  const fake = {
    server: 'https://hub',
    looks: 0,
    get: async () => {
      const reply = replies[Math.min(fake.looks++, replies.length - 1)];
      return reply instanceof Error ? Promise.reject(reply) : Promise.resolve(reply);
    },
  };
  return fake as unknown as KubeClient & { looks: number };
}

const options = () => ({ namespace: 'registrations', signal: new AbortController().signal, deadlineMs: 5 });

describe('pollDelay', () => {
  it('given a request that grows older, then the pause grows with it, within its bounds', () => {
    const middle = (age: number): number => pollDelay(age, () => 0.5);
    expect(middle(-5000)).toBe(durations.agentGrantPollFirst);
    expect(middle(0)).toBe(durations.agentGrantPollFirst);
    expect(middle(4000)).toBe(1000);
    expect(middle(1e9)).toBe(durations.agentGrantPollLast);
  });

  it('given the age at which a hub of Fleet answers, then no look comes much later, and there are few in all', () => {
    const { fleetAnswersFrom: from, fleetAnswersTo: to, fleetAnswersPoll: close } = durations;
    for (const chance of [0, 0.3, 0.5, 0.99]) {
      const looks: number[] = [];
      for (let age = 0; age < 10_000; age += pollDelay(age, () => chance)) looks.push(age);
      const gaps = looks.slice(1).map((age, index) => ({ age, gap: age - (looks[index] ?? 0) }));
      const late = gaps.filter(({ age, gap }) => age > from + close && age < to && gap > 1.2 * close);
      expect(late).toEqual([]);
      expect(looks.some((age) => age >= from && age <= from + close)).toBe(true);
      expect(looks.length).toBeLessThan(45);
    }
  });
});

describe('readAnswer', () => {
  it('given all fields, then they are decoded', () => {
    expect(readAnswer(secret({ ...full, systemNamespace: 's' }), 'hub')).toEqual(full);
  });

  it('given no token yet, then there is no answer yet', () => {
    expect(readAnswer(secret({ ...full, token: '' }), 'hub')).toBeUndefined();
    expect(readAnswer({ apiVersion: 'v1', kind: 'Secret', metadata: {} }, 'hub')).toBeUndefined();
  });

  it('given a token but no cluster, then it fails and names what is missing, not the token', () => {
    expect(() => readAnswer(secret({ token: 'very-secret', clusterName: 'c' }), 'hub')).toThrow(
      "the hub's answer has no clusterNamespace, deploymentNamespace",
    );
  });
});

describe('awaitAnswer', () => {
  it('given 403, then 404, then an empty token, then the answer, then all are waited for', async () => {
    const client = hub(refusal(403), refusal(404), secret({ ...full, token: '' }), secret(full));
    expect(await awaitAnswer(client, request, { ...options(), deadlineMs: 60_000 })).toEqual(full);
    expect(client.looks).toBe(4);
  });

  it('given no answer at the deadline, then it tells whether one could have been read', async () => {
    expect(await awaitAnswer(hub(refusal(403)), request, options())).toBe('unreadable');
    expect(await awaitAnswer(hub(refusal(404)), request, options())).toBe('absent');
  });

  it('given a wake-up while it waits, then the wait ends', async () => {
    const wake = new Wake();
    const waiting = awaitAnswer(hub(refusal(403)), request, { ...options(), deadlineMs: 3_600_000, wake });
    wake.wake();
    expect(await waiting).toBe('woken');
  });

  it('given an abort while it waits, then it is thrown', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = awaitAnswer(hub(refusal(403)), request, { ...options(), deadlineMs: 3_600_000, signal });
    controller.abort(new Error('stop'));
    await expect(waiting).rejects.toThrow('stop');
  });

  it('given any other refusal, then it is thrown', async () => {
    await expect(awaitAnswer(hub(refusal(401)), request, options())).rejects.toMatchObject({ status: 401 });
  });
});
