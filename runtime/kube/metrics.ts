/**
 * Prometheus metrics: a registry that makes each metric once, and the runtime's own metrics under the names of
 * controller-runtime and client-go, so that existing dashboards and alerts work.
 */
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import CounterClass from 'prom-client/lib/counter.js';
import GaugeClass from 'prom-client/lib/gauge.js';
import HistogramClass from 'prom-client/lib/histogram.js';
import RegistryClass from 'prom-client/lib/registry.js';

/** One metric, declared where it is used. */
export interface MetricDefinition<L extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
  /** Histograms only; seconds. Default: 5 ms to 60 s. */
  readonly buckets?: readonly number[];
}

/** The registry of one process. Asking twice for a name gives the same metric. */
export interface Metrics {
  counter<L extends string>(definition: MetricDefinition<L>): Counter<L>;
  gauge<L extends string>(definition: MetricDefinition<L>): Gauge<L>;
  histogram<L extends string>(definition: MetricDefinition<L>): Histogram<L>;
  /** All metrics in the Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createMetrics(): Metrics {
  const registry: Registry = new RegistryClass();
  const made = new Map<string, Counter | Gauge | Histogram>();
  const once = <M extends Counter | Gauge | Histogram>(name: string, make: () => M): M => {
    const known = made.get(name);
    if (known !== undefined) return known as M;
    const metric = make();
    made.set(name, metric);
    return metric;
  };
  const base = <L extends string>(definition: MetricDefinition<L>) => ({
    name: definition.name,
    help: definition.help,
    labelNames: [...(definition.labels ?? [])],
    registers: [registry],
  });
  return {
    counter: (definition) => once(definition.name, () => new CounterClass(base(definition))),
    gauge: (definition) => once(definition.name, () => new GaugeClass(base(definition))),
    histogram: (definition) =>
      once(
        definition.name,
        () => new HistogramClass({ ...base(definition), buckets: [...(definition.buckets ?? defaultBuckets)] }),
      ),
    text: () => registry.metrics(),
    contentType: RegistryClass.PROMETHEUS_CONTENT_TYPE,
  };
}

const perController = ['controller'] as const;
const perQueue = ['name', 'controller'] as const;

/** The runtime's own metrics. Names: controller-runtime, internal/controller/metrics and workqueue; client-go, rest. */
export const kubeMetrics = {
  requests: {
    name: 'rest_client_requests_total',
    help: 'HTTP requests to API servers, by status code, method and host.',
    labels: ['code', 'method', 'host'],
  },
  requestDuration: {
    name: 'rest_client_request_duration_seconds',
    help: 'Latency of requests to API servers, watches not counted.',
    labels: ['verb', 'host'],
  },
  reconciles: {
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by result: success, error, requeue or requeue_after.',
    labels: ['controller', 'result'],
  },
  reconcileErrors: {
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that threw.',
    labels: perController,
  },
  terminalErrors: {
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Reconciles that threw an error which is not tried again.',
    labels: perController,
  },
  reconcileTimeouts: {
    name: 'controller_runtime_reconcile_timeouts_total',
    help: 'Reconciles that ran into their timeout.',
    labels: perController,
  },
  reconcileTime: {
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Length of reconciles.',
    labels: perController,
  },
  maxConcurrent: {
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Reconciles that may run side by side.',
    labels: perController,
  },
  activeWorkers: {
    name: 'controller_runtime_active_workers',
    help: 'Reconciles that run now.',
    labels: perController,
  },
  queueDepth: { name: 'workqueue_depth', help: 'Items that wait in the queue.', labels: perQueue },
  queueAdds: { name: 'workqueue_adds_total', help: 'Items added to the queue.', labels: perQueue },
  queueRetries: { name: 'workqueue_retries_total', help: 'Items added again after a failure.', labels: perQueue },
  queueWait: {
    name: 'workqueue_queue_duration_seconds',
    help: 'How long items waited in the queue.',
    labels: perQueue,
  },
  queueWork: { name: 'workqueue_work_duration_seconds', help: 'How long items were worked on.', labels: perQueue },
  leader: {
    name: 'leader_election_master_status',
    help: '1 while this process leads, else 0.',
    labels: ['name'],
  },
  watchEvents: {
    name: 'muster_watch_events_total',
    help: 'Events that caches received, by kind and type.',
    labels: ['kind', 'type'],
  },
  watchFailures: {
    name: 'muster_watch_failures_total',
    help: 'Watches and lists of caches that ended in an error: expired, inactive, decode, api or transport.',
    labels: ['kind', 'cause'],
  },
  cacheObjects: { name: 'muster_cache_objects', help: 'Objects in caches.', labels: ['kind'] },
  handlerErrors: {
    name: 'muster_cache_handler_errors_total',
    help: 'Exceptions thrown by event handlers of caches.',
    labels: ['kind'],
  },
} as const satisfies Record<string, MetricDefinition>;
