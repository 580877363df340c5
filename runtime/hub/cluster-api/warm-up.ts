/**
 * After a start, numbers say nothing until each source was looked at once: a status that is written before would count
 * up anew with every restart of the hub.
 */
export interface WarmUp {
  /** A source of the initial lists. */
  expect(key: string): void;
  /** It was looked at. */
  seen(key: string): void;
  /** No more sources are to be expected. */
  complete(): void;
  readonly warm: boolean;
}

/** Calls `onWarm` once. */
export function createWarmUp(onWarm: () => void): WarmUp {
  const waiting = new Set<string>();
  let completed = false;
  let warm = false;
  const check = (): void => {
    if (warm || !completed || waiting.size > 0) return;
    warm = true;
    onWarm();
  };
  return {
    expect: (key) => {
      if (!warm) waiting.add(key);
    },
    seen: (key) => {
      if (waiting.delete(key)) check();
    },
    complete: () => {
      completed = true;
      check();
    },
    get warm() {
      return warm;
    },
  };
}
