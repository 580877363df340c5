import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Authority } from '../../test/harness/index.ts';
import { binary } from '../../test/harness/binaries.ts';
import { formatKubeconfig, loadKubeconfigFile } from './kubeconfig.ts';

describe('kubeconfigs and kubectl', () => {
  const { cert: ca } = Authority.create('kubectl-test');
  let dir: string;
  let kubectl: (path: string, ...args: string[]) => string;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'muster-kubectl-'));
    writeFileSync(join(dir, 'ca.pem'), ca);
    const program = await binary('kubectl');
    kubectl = (path, ...args) =>
      execFileSync(program, ['config', `--kubeconfig=${path}`, ...args], { encoding: 'utf8', stdio: 'pipe' });
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('is read as kubectl writes it', () => {
    // given
    const path = join(dir, 'by-kubectl');
    kubectl(
      path,
      'set-cluster',
      'c',
      '--server=https://1.2.3.4:6443',
      `--certificate-authority=${dir}/ca.pem`,
      '--embed-certs',
    );
    kubectl(path, 'set-credentials', 'u', '--token=kubectl-token');
    kubectl(path, 'set-context', 'ctx', '--cluster=c', '--user=u', '--namespace=n');
    kubectl(path, 'use-context', 'ctx');

    // when
    const config = loadKubeconfigFile(path);

    // then
    const server = 'https://1.2.3.4:6443';
    expect(config).toEqual({ server, ca, token: 'kubectl-token', namespace: 'n', contextName: 'ctx' });
  });

  it('is written so that kubectl reads it', () => {
    const path = join(dir, 'by-muster');
    writeFileSync(
      path,
      formatKubeconfig({ server: 'https://x.example', ca, token: 't', namespace: 'n', contextName: 'c' }),
    );
    expect(kubectl(path, 'current-context')).toBe('c\n');
    const view = JSON.parse(kubectl(path, 'view', '--raw', '--minify', '-o', 'json')) as object;
    expect(view).toMatchObject({
      clusters: [
        { cluster: { server: 'https://x.example', 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
      ],
      users: [{ user: { token: 't' } }],
      contexts: [{ context: { namespace: 'n' } }],
    });
  });
});
