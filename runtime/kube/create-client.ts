/** Head only; the body follows. */
import { MusterError } from '../../api/errors.ts';
import type { ClientConfig } from './client-config.ts';
import type { KubeClient } from './client.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** Default: `muster`. */
  readonly userAgent?: string;
  /** Requests per second earned back, watches not counted. Default: no limit. */
  readonly qps?: number;
  /** Requests at once before `qps` holds them. Default: twice `qps`. */
  readonly burst?: number;
  /** Connections for everything but watches. Default: 16. */
  readonly maxConnections?: number;
  readonly metrics?: Metrics;
  readonly logger?: Logger;
}

export function createClient(_config: ClientConfig, _options: ClientOptions = {}): KubeClient {
  throw new MusterError('INTERNAL', 'createClient is being written');
}
