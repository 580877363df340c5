/** One container's probes, with Kubernetes' defaults. */
import { execFile } from 'node:child_process';
import { request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Container, Probe } from './pod-spec.ts';

/** What a probe needs to know of the container. */
export interface ProbeTarget {
  readonly container: Container;
  readonly address: string;
  readonly env: Readonly<Record<string, string>>;
  /** Words for an exec probe: the image's programs put in. */
  resolve(command: readonly string[]): readonly string[];
}

/**
 * Looks again and again until the signal aborts; reports a change of the outcome after the thresholds (Kubernetes:
 * failureThreshold 3, successThreshold 1, period 10 s, timeout 1 s).
 */
export async function runProbe(
  probe: Probe,
  target: ProbeTarget,
  report: (healthy: boolean, message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const period = (probe.periodSeconds ?? 10) * 1000;
  let streak = 0;
  let last: boolean | undefined;
  try {
    await pause((probe.initialDelaySeconds ?? 0) * 1000, undefined, { signal });
    for (;;) {
      const failure = await look(probe, target, (probe.timeoutSeconds ?? 1) * 1000);
      signal.throwIfAborted();
      const healthy = failure === undefined;
      streak = healthy === last ? streak + 1 : 1;
      last = healthy;
      const enough = healthy ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
      if (streak === enough) report(healthy, failure ?? '');
      await pause(period, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** One look; the reason when it failed. */
function look(probe: Probe, target: ProbeTarget, timeoutMs: number): Promise<string | undefined> {
  if (probe.httpGet !== undefined) return lookHttp(probe.httpGet, target, timeoutMs);
  if (probe.tcpSocket !== undefined) {
    const host = probe.tcpSocket.host ?? target.address;
    return lookTcp(host, portOf(probe.tcpSocket.port, target.container), timeoutMs);
  }
  if (probe.exec !== undefined) return lookExec(target.resolve(probe.exec.command), target.env, timeoutMs);
  return Promise.resolve('this kind of probe is not supported here');
}

function portOf(port: number | string, container: Container): number {
  if (typeof port === 'number' || /^\d+$/.test(port)) return Number(port);
  return container.ports?.find(({ name }) => name === port)?.containerPort ?? 0;
}

function lookHttp(
  check: NonNullable<Probe['httpGet']>,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const host = check.host ?? target.address;
    const isSecure = check.scheme === 'HTTPS';
    const url = `${isSecure ? 'https' : 'http'}://${host}:${portOf(check.port, target.container)}${check.path ?? '/'}`;
    const headers = Object.fromEntries((check.httpHeaders ?? []).map(({ name, value }) => [name, value]));
    // Kubelet does not verify the certificate of an HTTPS probe either.
    const options = { agent: false, headers, signal: AbortSignal.timeout(timeoutMs), rejectUnauthorized: false };
    const call = (isSecure ? secure : plain)(url, options, (response) => {
      response.resume();
      const status = response.statusCode ?? 0;
      resolve(status >= 200 && status < 400 ? undefined : `HTTP probe failed with statuscode: ${status}`);
    });
    call.on('error', (error) => resolve(`Get "${url}": ${error.message}`));
    call.end();
  });
}

function lookTcp(host: string, port: number, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const done = (failure?: string): void => {
      socket.destroy();
      resolve(failure);
    };
    socket.once('connect', () => done());
    socket.once('timeout', () => done('timeout'));
    socket.once('error', (error) => done(error.message));
  });
}

function lookExec(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const [program = '', ...args] = command;
    execFile(program, args, { env, timeout: timeoutMs, killSignal: 'SIGKILL' }, (error) => resolve(error?.message));
  });
}
