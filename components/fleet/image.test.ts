import { describe, expect, test } from 'vitest';
import { resolveImage } from './image.ts';

describe('given an image', () => {
  test.each([
    ['without a private registry it stays', ['rancher/fleet-agent:v1'], 'rancher/fleet-agent:v1'],
    [
      'the default registry alone changes nothing',
      ['reg.one/rancher/agent:v1', '', 'reg.one'],
      'reg.one/rancher/agent:v1',
    ],
    ['the private registry is put before', ['rancher/agent:v1', 'reg.two:5000'], 'reg.two:5000/rancher/agent:v1'],
    [
      'it takes the place of the default one',
      ['reg.one/rancher/agent:v1', 'reg.two', 'reg.one'],
      'reg.two/rancher/agent:v1',
    ],
    ['it is not put twice', ['reg.two/rancher/agent:v1', 'reg.two'], 'reg.two/rancher/agent:v1'],
    ['a slash at its end is not doubled', ['agent:v1', 'reg.two/mirror/'], 'reg.two/mirror/agent:v1'],
  ] as const)('%s', (_, [image, ...rest], expected) => {
    expect(resolveImage(image, ...rest)).toBe(expected);
  });
});
