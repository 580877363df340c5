/** Head only; the body follows. */
import type { KubeObject } from '../../api/resource.ts';
import { MusterError } from '../../api/errors.ts';
import type { KubeClient } from './client.ts';
import type { Logger } from './logger.ts';

/** Options of {@link createEventRecorder}. */
export interface EventRecorderOptions {
  /** `reportingController`, such as `muster-hub`. */
  readonly component: string;
  /** `reportingInstance`. Default: the component. */
  readonly instance?: string;
  readonly logger?: Logger;
}

export interface EventRecorder {
  /** Tells users what happened to `object`. Never blocks, never throws: an event that cannot be written is dropped. */
  event(object: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void;
  /** Resolves when everything recorded so far is written or dropped, or when the signal aborts. */
  flush(signal?: AbortSignal): Promise<void>;
}

export function createEventRecorder(_client: KubeClient, _options: EventRecorderOptions): EventRecorder {
  throw new MusterError('INTERNAL', 'createEventRecorder is being written');
}
