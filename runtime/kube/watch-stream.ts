/** A watch's body: one JSON event per line, with a limit to its silence and to the length of a line. */
import type { IncomingMessage } from 'node:http';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { apiVersionOf } from '../../api/resource.ts';
import type { WatchEvent } from './client.ts';
import { statusError } from './response.ts';
import { notKubernetes, timeoutError, transportError } from './transport-error.ts';

/** etcd takes objects of 1.5 MB; JSON with escapes and both managed fields stays below this by far. */
const longestLine = 16 * 1024 * 1024;

export interface WatchStreamOptions {
  readonly server: string;
  /** Silence after which the connection is held to be half-open. */
  readonly inactivityMs: number;
  readonly signal?: AbortSignal;
}

/** Ends with the stream; throws the signal's reason, TIMEOUT, UNREACHABLE, NOT_KUBERNETES or the ApiError of an ERROR. */
export async function* watchEvents<T extends KubeObject>(
  response: IncomingMessage,
  type: ResourceType<T>,
  options: WatchStreamOptions,
): AsyncGenerator<WatchEvent<T>> {
  for await (const line of lines(response, options)) {
    if (line.length === 0) continue;
    yield readEvent(line, type, options.server);
  }
}

function readEvent<T extends KubeObject>(line: string, type: ResourceType<T>, server: string): WatchEvent<T> {
  let event: { type?: unknown; object?: T };
  try {
    event = JSON.parse(line) as typeof event;
  } catch {
    throw notKubernetes(server, `sends a watch event of ${type.plural} that is not JSON`);
  }
  const { object } = event;
  if (event.type === 'ERROR') throw statusError(object, `watch ${type.plural}`);
  if (object?.metadata === undefined)
    throw notKubernetes(server, `sends a watch event of ${type.plural} without an object`);
  if (event.type === 'BOOKMARK') return { type: 'BOOKMARK', resourceVersion: object.metadata.resourceVersion ?? '' };
  if (event.type !== 'ADDED' && event.type !== 'MODIFIED' && event.type !== 'DELETED') {
    throw notKubernetes(server, `sends a watch event of ${type.plural} of an unknown type`);
  }
  object.apiVersion ??= apiVersionOf(type);
  object.kind ??= type.kind;
  return { type: event.type, object };
}

/** Complete lines as they come. A line that the end of the stream cuts off is dropped: its event comes again. */
async function* lines(response: IncomingMessage, options: WatchStreamOptions): AsyncGenerator<string> {
  const { signal, inactivityMs, server } = options;
  let ended: unknown;
  const end = (error: unknown): void => {
    ended ??= error;
    response.destroy();
  };
  const abort = (): void => end(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const silence = setTimeout(() => end(timeoutError(server, 'sent nothing', inactivityMs)), inactivityMs);
  let rest: Buffer[] = [];
  let length = 0;
  try {
    if (signal?.aborted) abort();
    for await (const chunk of response as AsyncIterable<Buffer>) {
      silence.refresh();
      let start = 0;
      for (let stop = chunk.indexOf(10); stop >= 0; stop = chunk.indexOf(10, start)) {
        const part = chunk.subarray(start, stop);
        yield rest.length === 0 ? part.toString('utf8') : Buffer.concat([...rest, part]).toString('utf8');
        rest = [];
        length = 0;
        start = stop + 1;
      }
      if (start < chunk.length) rest.push(chunk.subarray(start));
      length += chunk.length - start;
      if (length > longestLine) throw notKubernetes(server, 'sends a watch event of more than 16 MiB');
    }
  } catch (error) {
    throw ended ?? transportError(error, server);
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', abort);
    response.destroy();
  }
  if (ended !== undefined) throw ended;
}
