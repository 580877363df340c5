import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { MusterError } from '../api/errors.ts';
import { describeFailure } from './failure.ts';
import { namespaceOf, parseFlags, runUntilSignal } from './process.ts';

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

describe('given a running process', () => {
  test.each(['SIGINT', 'SIGTERM'])('when %s comes, then it stops and the exit code is 0', async (name) => {
    const source = new EventEmitter();
    const code = runUntilSignal(untilAborted, source);
    source.emit(name);
    expect(await code).toBe(0);
    expect(source.listenerCount(name)).toBe(0);
  });

  test('when a part rejects because it was told to stop, then that is no failure', async () => {
    const source = new EventEmitter();
    const code = runUntilSignal(async (signal) => {
      await untilAborted(signal);
      signal.throwIfAborted();
    }, source);
    source.emit('SIGTERM');
    expect(await code).toBe(0);
  });

  test('when it hangs and a second signal comes, then nobody waits any longer', async () => {
    const source = new EventEmitter();
    const code = runUntilSignal(() => new Promise<void>(() => undefined), source);
    source.emit('SIGINT');
    source.emit('SIGINT');
    expect(await code).toBe(130);
  });

  test('when it fails, then one line says why and the exit code is 1', async () => {
    const lines: string[] = [];
    const failure = new MusterError('IN_USE', 'a hub of Fleet runs here', { where: 'Lease a/b', hint: 'Remove it.' });
    const code = await runUntilSignal(
      () => Promise.reject(failure),
      new EventEmitter(),
      (line) => lines.push(line),
    );
    expect(code).toBe(1);
    expect(lines).toEqual(['[IN_USE] Lease a/b: a hub of Fleet runs here. Remove it.']);
  });
});

describe('given a failure', () => {
  test('when it is described, then it is one line and carries no token', () => {
    const token = `eyJhbGciOiJSUzI1NiJ9.${'a'.repeat(20)}.${'b'.repeat(20)}`;
    expect(describeFailure(new Error(`first\n  second ${token}`))).toBe('[INTERNAL] first second [redacted]');
  });

  test.each([
    [401, 'UNAUTHORIZED'],
    [403, 'FORBIDDEN'],
    [500, 'INTERNAL'],
  ])('when the API server answered %d, then the code is %s', (status, code) => {
    expect(describeFailure(Object.assign(new Error('refused'), { status }))).toBe(`[${code}] refused`);
  });
});

describe('given a command line', () => {
  test('when it is read, then flags are typed', () => {
    expect(parseFlags('hub', ['--kubeconfig', 'f', '-n', 'x'])).toMatchObject({ kubeconfig: 'f', namespace: 'x' });
  });

  test.each([[['--unknown']], [['argument']], [['--kubeconfig']]])('when it has %j, then it is refused', (argv) => {
    expect(() => parseFlags('hub', argv)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error);
  });

  test('when the namespace is looked for, then flag, environment and connection come in this order', () => {
    const config = { server: 'https://x', contextName: 'c', namespace: 'from-context' };
    const none = { help: false };
    expect(namespaceOf({ ...none, namespace: 'flag' }, { NAMESPACE: 'env' }, config)).toBe('flag');
    expect(namespaceOf(none, { NAMESPACE: 'env' }, config)).toBe('env');
    expect(namespaceOf(none, {}, config)).toBe('from-context');
    expect(namespaceOf(none, {}, { server: 'https://x', contextName: 'c' })).toBe('cattle-fleet-system');
  });
});
