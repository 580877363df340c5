/**
 * Order for Flux: no annotation orders anything there, its Kustomizations do (kustomize.toolkit.fluxcd.io/v1). Inside of
 * one it applies definitions and namespaces first by itself; between two, `dependsOn` waits until the other is ready.
 */
import type { KubeObject } from '../../api/resource.ts';

/** Folders of a repository, each applied by a Kustomization of its own. */
export const fluxFolders = ['crds', 'hub', 'registrations', 'agent'] as const;

export type FluxFolder = (typeof fluxFolders)[number];

/** Where Flux finds the folders. */
export interface FluxOptions {
  /** Which of them exist. */
  readonly folders: readonly FluxFolder[];
  /** Path from the root of the repository to the folder that they are in; empty or `.` for the root itself. */
  readonly path: string;
  /** Name of the GitRepository of Flux. Default: `flux-system`. */
  readonly source?: string;
  /** Namespace of the Kustomizations and of the GitRepository. Default: `flux-system`. */
  readonly namespace?: string;
}

interface Stage {
  readonly after: readonly FluxFolder[];
  /** Remove what is no longer in Git. */
  readonly prune: boolean;
  /** Ready only when everything that was applied is. */
  readonly wait: boolean;
}

const stages: Readonly<Record<FluxFolder, Stage>> = {
  // Never removed by a commit: every registration would go, too.
  crds: { after: [], prune: false, wait: true },
  hub: { after: ['crds'], prune: true, wait: true },
  // A cluster may be away for days; that must not make the commit a failed one.
  registrations: { after: ['crds', 'hub'], prune: true, wait: false },
  agent: { after: [], prune: true, wait: true },
};

/** Flux: a Kustomization for each folder, `muster-FOLDER`, in the order in which they are applied. */
export function fluxKustomizations({ folders, path, source, namespace = 'flux-system' }: FluxOptions): KubeObject[] {
  const there = fluxFolders.filter((folder) => folders.includes(folder));
  return there.map((folder) => {
    const { after, prune, wait } = stages[folder];
    const dependsOn = after.filter((other) => there.includes(other)).map((other) => ({ name: nameOf(other) }));
    return {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: nameOf(folder), namespace },
      spec: {
        ...(dependsOn.length === 0 ? {} : { dependsOn }),
        interval: '10m',
        path: joined(path, folder),
        prune,
        retryInterval: '1m',
        sourceRef: { kind: 'GitRepository', name: source ?? 'flux-system' },
        timeout: '5m',
        wait,
      },
    };
  });
}

const nameOf = (folder: FluxFolder): string => `muster-${folder}`;

/** `./a/b`, whatever the path begins and ends with. */
function joined(path: string, folder: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return ['.', ...parts, folder].join('/');
}
