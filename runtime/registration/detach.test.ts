import { describe, expect, it } from 'vitest';
import type { DetachProgress, DetachStep } from './detach.ts';
import { done, runDetach } from './detach.ts';

const waiting = (blocks?: boolean): DetachProgress => ({
  state: 'waiting',
  reason: 'Deleting',
  message: 'later',
  ...(blocks === undefined ? {} : { blocks }),
});

function steps(...results: (DetachProgress | Error)[]): { list: DetachStep[]; ran: string[] } {
  const ran: string[] = [];
  const list = results.map((result, index) => ({
    name: `step ${index}`,
    run: () => {
      ran.push(`step ${index}`);
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    },
  }));
  return { list, ran };
}

describe('detaching', () => {
  it('given steps that are all done, when run, then nothing is left', async () => {
    const { list, ran } = steps(done, done);
    expect(await runDetach(list)).toBeUndefined();
    expect(ran).toEqual(['step 0', 'step 1']);
  });

  it('given a step that waits, when run, then none after it is begun', async () => {
    const { list, ran } = steps(done, waiting(), done);
    expect(await runDetach(list)).toMatchObject({ step: 'step 1' });
    expect(ran).toEqual(['step 0', 'step 1']);
  });

  it('given a step that only the end has to wait for, when run, then the others go on and the end waits', async () => {
    const { list, ran } = steps(waiting(false), done);
    expect(await runDetach(list)).toMatchObject({ step: 'step 0' });
    expect(ran).toEqual(['step 0', 'step 1']);
  });

  it('given a step that fails, when run, then none after it is begun', async () => {
    const { list, ran } = steps(new Error('no'), done);
    await expect(runDetach(list)).rejects.toThrow('no');
    expect(ran).toEqual(['step 0']);
  });
});
