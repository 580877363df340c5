import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentReporter } from '../progress.ts';
import { installDebian } from './debian.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-debian-'));
  vi.stubEnv('MUSTER_CACHE', join(folder, 'cache'));
  vi.stubEnv('PATH', folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

async function given(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

/** An apt-get that writes down how it was called and does `install` for an installation. */
async function givenApt(install: string): Promise<void> {
  await given('apt-get', `echo "$@" >> ${folder}/calls\ncase "$*" in *install*) ${install};; esac`);
  vi.spyOn(process, 'getuid').mockReturnValue(0);
}

const calls = async (): Promise<string[]> => (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');
/** Shell that puts a containerd of this version into the only folder of PATH. */
const putContainerd = (version: string): string =>
  `printf '#!/bin/sh\\necho containerd x ${version}\\n' > ${folder}/containerd; /bin/chmod 755 ${folder}/containerd`;

describe('installDebian', () => {
  it('reads the lists once, installs what is asked for, and finds it', async () => {
    await givenApt(putContainerd('1.7.1'));
    const found = await installDebian(['containerd'], silentReporter);
    expect(found.get('containerd')).toEqual({ path: join(folder, 'containerd'), version: '1.7.1' });
    expect(await calls()).toEqual([
      '--version',
      expect.stringMatching(/update$/),
      expect.stringMatching(/install -y --no-install-recommends containerd$/),
    ]);
  });

  it('names what could not be had when nobody may install it', async () => {
    await givenApt('true');
    vi.spyOn(process, 'getuid').mockReturnValue(1000);
    await expect(installDebian(['cni'], silentReporter)).rejects.toMatchObject({
      code: 'NOT_INSTALLED',
      what: 'cni',
      hint: /containernetworking-plugins/,
    });
  });

  it('names what could not be had where there is no apt', async () => {
    vi.spyOn(process, 'getuid').mockReturnValue(0);
    await expect(installDebian(['runc'], silentReporter)).rejects.toMatchObject({
      code: 'NOT_INSTALLED',
      what: 'runc',
    });
  });

  it('tells an unreachable mirror', async () => {
    await givenApt("echo 'E: Unable to locate package containerd' >&2; exit 100");
    await expect(installDebian(['containerd'], silentReporter)).rejects.toMatchObject({
      code: 'REGISTRY_UNREACHABLE',
      message: /Unable to locate/,
    });
  });

  it('does not take a package whose version does not fit', async () => {
    await givenApt(putContainerd('1.4.0'));
    await expect(installDebian(['containerd'], silentReporter)).rejects.toMatchObject({
      code: 'NOT_INSTALLED',
      message: /usable version/,
    });
  });
});
