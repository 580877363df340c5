/**
 * What pods need on this machine and nowhere else: all nodes share its network, so each pod has an address and ports of
 * its own there, and finds its API server without a Service. A user's settings files say none of this.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import type { EnvVar } from '../../components/fleet/index.ts';

/** Settings of a workload whose pods reach `server`; `shift` keeps two workloads of one node apart. */
export function onThisMachine(program: 'hub' | 'agent', server: string, shift = 0): Record<string, unknown> {
  const prefix = program === 'hub' ? 'MUSTER' : 'FLEET_AGENT';
  const { hostname, port } = new URL(server);
  const envVars: EnvVar[] = [
    { name: 'HOST_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
    { name: `${prefix}_PROBE_BIND_ADDRESS`, value: `$(HOST_IP):${8081 + shift}` },
    { name: `${prefix}_METRICS_BIND_ADDRESS`, value: `$(HOST_IP):${8080 + shift}` },
    { name: 'KUBERNETES_SERVICE_HOST', value: hostname },
    { name: 'KUBERNETES_SERVICE_PORT', value: port },
  ];
  return { hostNetwork: true, envVars };
}

/** Adds to a settings file as a user would edit it: maps are merged, all else is replaced. */
export function addSettings(path: string, more: Readonly<Record<string, unknown>>): void {
  const settings = (parse(readFileSync(path, 'utf8')) ?? {}) as Record<string, unknown>;
  writeFileSync(path, stringify(merge(settings, more)));
}

function merge(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = merged[key];
    merged[key] = isMap(before) && isMap(value) ? merge(before, value) : value;
  }
  return merged;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
