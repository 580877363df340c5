import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { annotations } from '../../../api/fleet/constants.ts';
import { addressRevision } from '../../../api/fleet/hub-address.ts';
import { durations } from '../../../api/durations.ts';
import type { KubeClient, WatchEvent, WatchOptions } from '../../kube/client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { silentLogger } from '../../kube/logger.ts';
import type { KubeObject } from '../../../api/resource.ts';
import type { Link } from './connection.ts';
import type { AgentContext } from './context.ts';
import { listen } from './listen.ts';
import { News } from './news.ts';

const claims = Buffer.from(JSON.stringify({ sub: 'system:serviceaccount:cluster-x:me' })).toString('base64url');
const address = { url: 'https://hub.example', ca: '' };

const account = (revision?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: {
    namespace: 'cluster-x',
    name: 'me',
    ...(revision === undefined ? {} : { annotations: { [annotations.hubAddressRevision]: revision } }),
  },
});
const added = (revision?: string): WatchEvent<KubeObject> => ({ type: 'ADDED', object: account(revision) });
const changed = (revision?: string): WatchEvent<KubeObject> => ({ type: 'MODIFIED', object: account(revision) });

let stop: AbortController;
let news: News;
const wake = vi.fn();
const watched = vi.fn<(options: WatchOptions) => void>();

/** Listens while each watch plays its events; what is an error breaks it, and the last one stays open. */
async function hear(...watches: (WatchEvent<KubeObject> | Error)[][]): Promise<void> {
  const watch = async function* (_type: unknown, options: WatchOptions) {
    watched(options);
    for (const event of watches.shift() ?? []) {
      if (event instanceof Error) throw event;
      yield event;
    }
    if (watches.length > 0) return;
    await new Promise((resolve) => options.signal?.addEventListener('abort', resolve, { once: true }));
  };
  const context = { wake: { wake }, news, logger: silentLogger } as unknown as AgentContext;
  const link = {
    hub: { server: 'https://hub', watch } as unknown as KubeClient,
    credential: { config: { token: `e30.${claims}.x` } },
  } as unknown as Link;
  const listening = listen(context, link, stop.signal);
  await vi.advanceTimersByTimeAsync(3 * durations.agentListenRetry);
  stop.abort();
  await listening;
}

beforeEach(() => {
  vi.useFakeTimers();
  [stop, news] = [new AbortController(), new News()];
  [wake, watched].forEach((mock) => mock.mockClear());
});
afterEach(() => {
  vi.useRealTimers();
});

describe('listen', () => {
  it('given an account that says nothing, then the agent is left alone', async () => {
    await hear([added(), changed()]);
    expect(wake).not.toHaveBeenCalled();
    expect(watched).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ namespace: 'cluster-x', fieldSelector: 'metadata.name=me', resourceVersion: '0' }),
    );
  });

  it('given a mark, when it is news, then the agent is woken, once for each', async () => {
    await hear([added(), changed('a'), changed('a'), changed('b')], [added('b')]);
    expect(wake).toHaveBeenCalledTimes(2);
  });

  it('given a mark of what a heartbeat has told already, then the agent is left alone', async () => {
    news.told(address);
    await hear([added(addressRevision(address))]);
    expect(wake).not.toHaveBeenCalled();
  });

  it('given a mark that no answer explains, when it is heard again and again, then the agent asks once', async () => {
    await hear([added('a'), new Error('cut')], [added('a')]);
    news.told(undefined);
    [stop] = [new AbortController()];
    await hear([added('a')]);
    expect(wake).toHaveBeenCalledTimes(1);
  });

  it('given a watch that breaks or ends, then it is opened again, not at once by all', async () => {
    await hear([new Error('cut')], [added()], [changed('a')]);
    expect(watched).toHaveBeenCalledTimes(3);
    expect(wake).toHaveBeenCalledTimes(1);
  });

  it('given a hub that refuses, as one that has just started does, then it is asked again', async () => {
    await hear([new ApiError('no', { status: 403, reason: 'Forbidden' })], [changed('a')]);
    expect(watched).toHaveBeenCalledTimes(2);
    expect(wake).toHaveBeenCalledTimes(1);
  });

  it('given a hub that gives no such right, then it is asked four times, and not again for long', async () => {
    const no = new ApiError('no', { status: 403, reason: 'Forbidden' });
    await hear([no], [no], [no], [no], [changed('a')]);
    expect(watched).toHaveBeenCalledTimes(4);
    expect(wake).not.toHaveBeenCalled();
  });

  it('given that its account is deleted, then the agent asks once the hub knows its token no more', async () => {
    const begun = Date.now();
    let woken = 0;
    wake.mockImplementationOnce(() => (woken = Date.now() - begun));
    await hear([added(), { type: 'DELETED', object: account() }]);
    expect(wake).toHaveBeenCalledTimes(1);
    expect(woken).toBeGreaterThanOrEqual(durations.agentAccountGone);
  });
});
