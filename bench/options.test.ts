import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.ts';

describe('parseOptions', () => {
  it('given only a name, then the rest has defaults', () => {
    expect(parseOptions(['burst', '--json'])).toEqual({
      name: 'burst',
      count: 100,
      existing: 0,
      broken: 50,
      clusters: [400, 1000],
      intervalMs: 900_000,
      runs: 5,
      workers: 50,
      hub: undefined,
      hubPids: [],
      agent: undefined,
    });
  });

  it('given another hub and agent, then they are taken', () => {
    const options = parseOptions([
      'registration',
      '--hub',
      'f',
      '--hub-pid',
      '1',
      '--hub-pid',
      '2',
      '--agent',
      'a  --b',
    ]);
    expect(options).toMatchObject({ hub: 'f', hubPids: [1, 2], agent: ['a', '--b'] });
  });

  it('given numbers of clusters, then they are steps that must grow', () => {
    const given = ['scale', '--clusters', '10,50', '--interval', '60'];
    expect(parseOptions(given)).toMatchObject({ name: 'scale', clusters: [10, 50], intervalMs: 60_000 });
    expect(() => parseOptions(['scale', '--clusters', '50,10'])).toThrow('--clusters must grow');
    expect(() => parseOptions(['scale', '--clusters', '50,'])).toThrow('must be a whole number');
  });

  it('given --help, then there is nothing to run', () => {
    expect(parseOptions(['--help'])).toBeUndefined();
  });

  it.each([[[]], [['other']], [['burst', 'more']], [['burst', '--count', '0']], [['burst', '--count', 'x']]])(
    'given %j, then it is refused',
    (argv) => {
      expect(() => parseOptions(argv)).toThrow(/name one of|must be a whole number/);
    },
  );

  it('given processes of a hub that is not named, then it is refused', () => {
    expect(() => parseOptions(['burst', '--hub-pid', '1'])).toThrow('--hub-pid needs --hub');
  });
});
