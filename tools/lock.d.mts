/** Options of {@link acquireLock}. */
export interface LockOptions {
  /** Called once when another live process holds the lock, with its pid. */
  onWait?: (pid: number) => void;
  signal?: AbortSignal;
}

/** Takes the lock file at `path`, waiting while a live process holds it. Resolves with the release function. */
export function acquireLock(path: string, options?: LockOptions): Promise<() => Promise<void>>;
