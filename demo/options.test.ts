import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.ts';

describe('the options of npm start', () => {
  it('uses clusters of its own when none is given', () => {
    expect(parseOptions(['--once'])).toMatchObject({ once: true, hubKubeconfig: undefined, clusterKubeconfigs: [] });
  });

  it('takes one or two given clusters', () => {
    const given = parseOptions(['--hub-kubeconfig', 'h', '--cluster-kubeconfig', 'a', '--cluster-kubeconfig', 'b']);
    expect(given.clusterKubeconfigs).toEqual(['a', 'b']);
  });

  it('takes more configuration of the program, whose values may hold the sign of equality', () => {
    expect(parseOptions(['--config', 'hub={"a":"b=c"}']).config).toEqual([{ key: 'hub', value: '{"a":"b=c"}' }]);
  });

  it.each([
    [['--hub-kubeconfig', 'h'], 'go together'],
    [['--cluster-kubeconfig', 'c'], 'go together'],
    [['--hub-kubeconfig', 'h', ...['a', 'b', 'c'].flatMap((f) => ['--cluster-kubeconfig', f])], 'once or twice'],
    [['--config', 'hub'], 'KEY=VALUE'],
    [['--frobnicate'], 'frobnicate'],
  ])('says what is wrong with %j', (argv, reason) => {
    expect(() => parseOptions(argv)).toThrow(reason);
  });
});
