import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

describe('nodeSupport', () => {
  it('says why not in one line, and a node is refused with it', async () => {
    vi.stubEnv('MUSTER_NO_NODE', '1');
    const { nodeSupport } = await import('./support.ts');
    const { Node } = await import('./node.ts');

    expect(nodeSupport()).toEqual({ supported: false, reason: 'MUSTER_NO_NODE=1 is set' });
    await expect(Node.start(undefined as never)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('MUSTER_NO_NODE=1') as string,
      hint: expect.stringContaining('ProcessRunner') as string,
    });
  });

  it('needs root and Linux', async () => {
    vi.stubEnv('MUSTER_NO_NODE', '');
    vi.spyOn(process, 'getuid').mockReturnValue(1000);
    const { nodeSupport } = await import('./support.ts');

    expect(nodeSupport()).toEqual({
      supported: false,
      reason: expect.stringMatching(/^a node needs (root|Linux)/) as string,
    });
  });
});
