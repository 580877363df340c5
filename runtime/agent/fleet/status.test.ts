import { describe, expect, it, vi } from 'vitest';
import { durations } from '../../../api/durations.ts';
import { silentLogger } from '../../kube/logger.ts';
import { AgentError } from './failure.ts';
import { AgentStatus } from './status.ts';

const unreachable = (): AgentError => new AgentError('HubUnreachable', 'UNREACHABLE', 'refused', { where: 'hub' });

function setup() {
  const record = vi.fn();
  let now = 0;
  const status = new AgentStatus({ record, logger: silentLogger, clock: () => now });
  return { record, status, advance: (ms: number) => (now += ms) };
}

describe('AgentStatus', () => {
  it('given a standby, then it is ready; given a registration under way, then it is not', () => {
    const { status } = setup();
    expect(status.readiness()).toMatchObject({ ready: true });
    status.enter('registering', 'x');
    expect(status.readiness()).toEqual({ ready: false, text: 'registering' });
    status.enter('connected', 'x');
    expect(status.readiness()).toMatchObject({ ready: true });
  });

  it('given a failure, then /readyz names it until the next success', () => {
    const { status } = setup();
    status.enter('connected', 'x');
    status.failed(unreachable(), 1000);
    expect(status.readiness()).toEqual({
      ready: false,
      text: expect.stringMatching(/^HubUnreachable: .*refused/) as string,
    });
    status.succeeded('Connected', 'fine');
    expect(status.readiness().ready).toBe(true);
  });

  it('given the same failure again and again, then it is one Event, repeated when it lasts', () => {
    const { status, record, advance } = setup();
    for (let i = 0; i < 5; i++) status.failed(unreachable(), 1000);
    expect(record).toHaveBeenCalledTimes(1);
    advance(durations.agentEventRepeat);
    status.failed(unreachable(), 1000);
    expect(record).toHaveBeenCalledTimes(2);
    status.failed(new AgentError('HubBusy', 'UNREACHABLE', '503'), 1000);
    expect(record).toHaveBeenCalledTimes(3);
  });

  it('given a success that is no news, then there is no Event; given one after a failure, then there is', () => {
    const { status, record } = setup();
    status.succeeded('Connected', 'fine');
    expect(record).not.toHaveBeenCalled();
    status.failed(unreachable(), 1000);
    status.succeeded('Connected', 'fine again');
    expect(record).toHaveBeenLastCalledWith('Normal', 'Connected', 'fine again');
  });
});
