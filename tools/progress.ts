import process from 'node:process';

/** One piece of work that is shown while it runs. */
export interface Step {
  /** Replaces the detail beside the title, e.g. `812 of 2310 packages`. */
  update(detail: string): void;
  /** Ends the step; the line stays with its elapsed time. */
  done(detail?: string): void;
  /** Ends the step as failed. */
  fail(detail?: string): void;
}

/** Where work reports how far it is. Steps may overlap; the one started last is drawn. */
export interface Reporter {
  step(title: string): Step;
  /** A line that stays. */
  info(line: string): void;
}

/** Options of {@link createReporter}. */
export interface ReporterOptions {
  /** Default: standard error, so that standard output holds results only. */
  readonly stream?: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  /** Clock in milliseconds. Default: Date.now. */
  readonly now?: () => number;
}

/** How often the one line of a terminal is drawn again, in ms: often enough for seconds to tick evenly. */
const redrawMs = 250;
/** Without a terminal: a step shorter than this prints only its end, in ms. */
const quietMs = 2_000;
/** Without a terminal: a running step prints a line this often, in ms, so that a log never looks dead. */
const heartbeatMs = 15_000;

/** `4.2 s` below a minute, `3:07 min` above. */
export function formatElapsed(ms: number): string {
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
}

interface Running {
  readonly title: string;
  readonly startedAt: number;
  detail: string;
  printedAt: number | undefined;
}

/** Progress with elapsed time: one line drawn over itself on a terminal, plain lines elsewhere. Keeps no process alive. */
export function createReporter(options: ReporterOptions = {}): Reporter {
  const stream = options.stream ?? process.stderr;
  const now = options.now ?? Date.now;
  const tty = stream.isTTY === true;
  const running = new Set<Running>();
  let timer: NodeJS.Timeout | undefined;
  let drawn = false;

  const text = (step: Running): string =>
    `${step.title}${step.detail === '' ? '' : `: ${step.detail}`} (${formatElapsed(now() - step.startedAt)})`;
  const clear = (): void => {
    if (drawn) stream.write('\r\u001b[2K');
    drawn = false;
  };
  const draw = (): void => {
    const last = [...running].at(-1);
    if (!tty || last === undefined) return;
    clear();
    stream.write(`… ${text(last)}`.slice(0, (stream.columns ?? 100) - 1));
    drawn = true;
  };
  const beat = (): void => {
    for (const step of running) {
      const since = now() - (step.printedAt ?? step.startedAt);
      if (since < (step.printedAt === undefined ? quietMs : heartbeatMs)) continue;
      step.printedAt = now();
      stream.write(`… ${text(step)}\n`);
    }
  };
  const start = (): void => {
    timer ??= setInterval(tty ? draw : beat, redrawMs);
    timer.unref();
  };
  const end = (step: Running, mark: string, detail: string | undefined): void => {
    if (!running.delete(step)) return;
    step.detail = detail ?? '';
    clear();
    stream.write(`${mark} ${text(step)}\n`);
    if (running.size === 0) {
      clearInterval(timer);
      timer = undefined;
    } else draw();
  };

  return {
    step(title) {
      const step: Running = { title, startedAt: now(), detail: '', printedAt: undefined };
      running.add(step);
      start();
      draw();
      return {
        update(detail) {
          step.detail = detail;
        },
        done: (detail) => end(step, '✓', detail),
        fail: (detail) => end(step, '✗', detail),
      };
    },
    info(line) {
      clear();
      stream.write(`${line}\n`);
      draw();
    },
  };
}

/** Shows nothing. */
export const silentReporter: Reporter = {
  step: () => ({ update: () => undefined, done: () => undefined, fail: () => undefined }),
  info: () => undefined,
};
