/**
 * The volumes of a pod as folders. Contents that can change (ConfigMaps, Secrets, tokens) are written again from time to
 * time, each file by rename, so that a reader sees the old or the new text and nothing between.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { Pod } from '../../../api/kubernetes/core.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { fieldOf, requireContents } from './lookup.ts';
import type { Container, Volume, VolumeSource } from './pod-spec.ts';
import { specOf } from './pod-spec.ts';

/** Kubernetes: default life of a projected token. */
const tokenSeconds = 3607;

/** The volumes of one pod. */
export class Volumes {
  #client: KubeClient;
  #pod: Pod;
  #address: string;
  #dir: string;
  /** Writes follow one another: two containers of a pod that start together share its volumes. */
  #writing: Promise<void> = Promise.resolve();
  /** When each token is to be renewed, by file. */
  #tokens = new Map<string, number>();

  constructor(client: KubeClient, pod: Pod, address: string, dir: string) {
    this.#client = client;
    this.#pod = pod;
    this.#address = address;
    this.#dir = dir;
  }

  /** Writes what is missing or has changed. Throws PodConfigError when something it needs does not exist. */
  write(): Promise<void> {
    const writing = this.#writing.then(() => this.#writeAll());
    this.#writing = writing.catch(() => undefined); // reported to whoever asked for it
    return writing;
  }

  async #writeAll(): Promise<void> {
    for (const volume of specOf(this.#pod).volumes ?? []) {
      mkdirSync(this.#folder(volume.name), { recursive: true, mode: 0o700 });
      for (const source of sourcesOf(volume)) await this.#writeSource(volume.name, source);
    }
  }

  /** The folders that stand for a container's mounts, by mount path, longest path first. */
  mounts(container: Container): Map<string, string> {
    const byName = new Map((specOf(this.#pod).volumes ?? []).map((volume) => [volume.name, volume]));
    const found = (container.volumeMounts ?? []).map(({ name, mountPath, subPath }): [string, string] => {
      const folder = byName.get(name)?.hostPath?.path ?? this.#folder(name);
      return [mountPath.replace(/\/+$/, ''), subPath === undefined ? folder : join(folder, subPath)];
    });
    return new Map(found.toSorted(([a], [b]) => b.length - a.length));
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 3 });
  }

  #folder(name: string): string {
    return join(this.#dir, 'volumes', name);
  }

  async #writeSource(volume: string, source: VolumeSource): Promise<void> {
    const namespace = this.#pod.metadata.namespace ?? '';
    const ref = source.configMap ?? source.secret;
    if (ref !== undefined) {
      const kind = source.configMap === undefined ? 'Secret' : 'ConfigMap';
      const contents = await requireContents(this.#client, kind, namespace, ref);
      const items = ref.items ?? [...contents.keys()].map((key) => ({ key, path: key }));
      for (const { key, path } of items) this.#put(volume, path, contents.get(key) ?? Buffer.alloc(0));
    }
    for (const { path, fieldRef } of source.downwardAPI?.items ?? []) {
      if (fieldRef !== undefined)
        this.#put(volume, path, Buffer.from(fieldOf(this.#pod, this.#address, fieldRef.fieldPath)));
    }
    if (source.serviceAccountToken !== undefined) await this.#writeToken(volume, source.serviceAccountToken);
  }

  async #writeToken(volume: string, source: NonNullable<VolumeSource['serviceAccountToken']>): Promise<void> {
    const key = join(volume, source.path);
    if ((this.#tokens.get(key) ?? 0) > Date.now()) return;
    const { name = '', namespace = '', uid = '' } = this.#pod.metadata;
    const request = {
      expirationSeconds: source.expirationSeconds ?? tokenSeconds,
      ...(source.audience === undefined ? {} : { audiences: [source.audience] }),
      // Bound to the pod as kubelet's tokens are: invalid once the pod is gone.
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    };
    const account = { namespace, name: specOf(this.#pod).serviceAccountName ?? 'default' };
    const issued = await this.#client.createToken(account, request);
    this.#put(volume, source.path, Buffer.from(issued.token));
    const life = Date.parse(issued.expirationTimestamp) - Date.now();
    this.#tokens.set(key, Date.now() + life * 0.8); // kubelet renews at 80 % too
  }

  #put(volume: string, path: string, content: Buffer): void {
    const file = join(this.#folder(volume), normalize(`/${path}`)); // never outside the volume
    if (sameContent(file, content)) return;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, content, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
}

function sourcesOf(volume: Volume): readonly VolumeSource[] {
  if (volume.projected !== undefined) return volume.projected.sources ?? [];
  if (volume.configMap !== undefined) return [{ configMap: volume.configMap }];
  if (volume.secret !== undefined) return [{ secret: { ...volume.secret, name: volume.secret.secretName } }];
  if (volume.downwardAPI !== undefined) return [{ downwardAPI: volume.downwardAPI }];
  return []; // emptyDir, hostPath
}

function sameContent(file: string, content: Buffer): boolean {
  try {
    return readFileSync(file).equals(content);
  } catch {
    return false;
  }
}
