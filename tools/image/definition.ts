/** Where the content of a file in an image comes from. */
export type ImageSource = { readonly path: string } | { readonly text: string };

/** One thing in an image. Folders above it are made as needed, with mode 755. */
export type ImageEntry =
  | { readonly type: 'file'; readonly at: string; readonly source: ImageSource; readonly mode: number }
  | { readonly type: 'folder'; readonly at: string; readonly mode: number }
  | { readonly type: 'link'; readonly at: string; readonly to: string };

/** Files that change together. */
export interface ImageLayer {
  /** Lower case, used as a folder name in the context of a container build. */
  readonly name: string;
  readonly entries: readonly ImageEntry[];
}

/** An image: the archive and the Containerfile are both made from this alone. */
export interface ImageDefinition {
  readonly ref: string;
  /** From the one that changes least to the one that changes most. */
  readonly layers: readonly ImageLayer[];
  readonly environment: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  /** `uid:gid` as numbers, so that `runAsNonRoot` can be checked without the image's files. */
  readonly user: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** An executable that is copied as it is. */
export const program = (at: string, path: string): ImageEntry => ({ type: 'file', at, source: { path }, mode: 0o755 });

/** A file that is copied as it is. */
export const data = (at: string, path: string): ImageEntry => ({ type: 'file', at, source: { path }, mode: 0o644 });

/** A file with this content. */
export const text = (at: string, content: string, mode = 0o644): ImageEntry => ({
  type: 'file',
  at,
  source: { text: content },
  mode,
});

/** A folder that anyone may write to, like /tmp. */
export const sharedFolder = (at: string): ImageEntry => ({ type: 'folder', at, mode: 0o1777 });
