import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../api/kubernetes/core.ts';
import { commandOf, expand, relocate } from './environment.ts';
import { fieldOf } from './lookup.ts';

const container = { name: 'main', image: 'localhost/muster:dev' };
const mounts = new Map([
  ['/etc/muster/deep', '/run/deep'],
  ['/etc/muster', '/run/volume'],
]);

describe('expand', () => {
  it('replaces what is known, keeps what is not, and reads $$ as a dollar sign', () => {
    expect(expand('$(A)-$(B)-$$(A)-$$$(A)', { A: '1' })).toBe('1-$(B)-$(A)-$1');
  });
});

describe('relocate', () => {
  it.each([
    ['/etc/muster', '/run/volume'],
    ['/etc/muster/kubeconfig', '/run/volume/kubeconfig'],
    ['/etc/muster/deep/file', '/run/deep/file'],
    ['--kubeconfig=/etc/muster/kubeconfig', '--kubeconfig=/run/volume/kubeconfig'],
    ['/etc/musterling', '/etc/musterling'],
    ['see /etc/muster', 'see /etc/muster'],
  ])('turns %s into %s', (text, expected) => {
    expect(relocate(text, mounts)).toBe(expected);
  });
});

describe('commandOf', () => {
  const image = { command: { muster: ['/usr/bin/node', '/repo/muster.cjs'] }, entrypoint: ['muster'] };

  it('puts the real program in for the first word', () => {
    const words = commandOf(
      image,
      { ...container, command: ['muster', 'agent'], args: ['--name=$(NAME)'] },
      { NAME: 'x' },
      mounts,
    );

    expect(words).toEqual(['/usr/bin/node', '/repo/muster.cjs', 'agent', '--name=x']);
  });

  it('takes the entrypoint of the image when the container has no command', () => {
    expect(commandOf(image, { ...container, args: ['hub'] }, {}, mounts)).toEqual([...image.command.muster, 'hub']);
  });

  it('refuses a program that is not in the image', () => {
    expect(() => commandOf(image, { ...container, command: ['bash'] }, {}, mounts)).toThrow(/"bash".*not found/);
  });
});

describe('fieldOf', () => {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'b', labels: { 'x/y': 'z', app: 'q' } },
    spec: { nodeName: 'n', serviceAccountName: 's', containers: [] },
  };

  it.each([
    ['metadata.name', 'a'],
    ["metadata.labels['x/y']", 'z'],
    ["metadata.annotations['none']", ''],
    ['metadata.labels', 'x/y="z"\napp="q"'],
    ['spec.nodeName', 'n'],
    ['spec.serviceAccountName', 's'],
    ['status.podIP', '127.1.2.3'],
  ])('reads %s', (path, expected) => {
    expect(fieldOf(pod, '127.1.2.3', path)).toBe(expected);
  });

  it('refuses a path that the downward API does not know', () => {
    expect(() => fieldOf(pod, '', 'spec.containers')).toThrow(/no such field/);
  });
});
