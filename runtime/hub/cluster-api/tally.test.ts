import { describe, expect, it } from 'vitest';
import type { SourceRecord } from './tally.ts';
import { Tally } from './tally.ts';

const registered: SourceRecord = { rule: 'all', others: [], progress: { stage: 'registered' } };
const closed = { reason: 'NamespaceNotOpen', message: 'not open' };
const waiting: SourceRecord = { rule: 'all', others: ['more'], progress: { stage: 'failed', fault: closed } };

describe('the tally of sources', () => {
  it('given sources of two namespaces, when asked for one, then those of it are found', () => {
    const tally = new Tally();
    tally.set('Cluster/a/east', registered);
    tally.set('Secret/a/west', waiting);
    tally.set('Cluster/b/east', registered);
    expect(tally.inNamespace('a')).toEqual(['Cluster/a/east', 'Secret/a/west']);
    expect(tally.withReason(closed.reason)).toEqual(['Secret/a/west']);
    expect(tally.inNamespace('c')).toEqual([]);
  });

  it('given a source that gets registered and goes, then it is counted once, and nothing is kept of it', () => {
    const tally = new Tally();
    expect(tally.set('Cluster/a/east', waiting)).toEqual(['all', 'more']);
    expect(tally.sourcesOf('more')).toEqual(['Cluster/a/east']);
    expect(tally.set('Cluster/a/east', waiting)).toEqual([]);
    expect(tally.set('Cluster/a/east', registered)).toEqual(['all', 'more']);
    expect(tally.withReason(closed.reason)).toEqual([]);
    expect(tally.sourcesOf('more')).toEqual([]);
    expect(tally.set('Cluster/a/east', undefined)).toEqual(['all']);
    expect([tally.inNamespace('a'), tally.sourcesOf('all'), tally.of('all').stages.size]).toEqual([[], [], 0]);
  });
});
