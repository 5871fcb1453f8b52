import type { Terminal } from "@xterm/xterm";

/**
 * Characters that may wait for the parser before a viewer counts as too far behind. A hidden tab parses about 12 ms
 * of output per second, so without a bound a flood would fill the browser's memory.
 */
export const MAX_BACKLOG = 8 * 1024 * 1024;

/** Waiting pieces of output are joined up to this many characters, so that a flood is few large writes. */
const JOIN = 64 * 1024;

/**
 * RESET brings a used xterm.js to the state of a new one, which reset() alone does not: CAN leaves an unfinished
 * sequence without running it, then the palette, the cursor's visibility (DECSTR) and the parser (RIS) are reset.
 */
const RESET = "\x18\x1b]104\x07\x1b]110\x07\x1b]111\x07\x1b]112\x07\x1b[!p\x1bc";

type Step = string | (() => void);

/**
 * Writer applies output, resizes and snapshots to a terminal strictly in the order they came. xterm.js parses
 * writes later but resizes and resets at once, so unordered calls would mix two screens.
 */
export class Writer {
  private steps: Step[] = [];
  private waiting = 0;
  private parsing = false;

  constructor(private readonly term: Pick<Terminal, "write" | "resize" | "reset">) {}

  /** write queues output. It returns false when the backlog is over MAX_BACKLOG: ask for a snapshot instead. */
  write(data: string): boolean {
    const last = this.steps.length - 1;
    const tail = this.steps[last];
    if (typeof tail === "string" && tail.length + data.length <= JOIN) this.steps[last] = tail + data;
    else this.steps.push(data);
    this.waiting += data.length;
    this.pump();
    return this.waiting <= MAX_BACKLOG;
  }

  /** run calls `step` after everything queued so far was parsed. */
  run(step: () => void): void {
    this.steps.push(step);
    this.pump();
  }

  /**
   * replace shows a snapshot: what still waits is superseded and dropped, the terminal becomes like new with the
   * given size, `before` is called (width table), then the data are written. They do not count as backlog: a large
   * snapshot must not lead to asking for another one.
   */
  replace(cols: number, rows: number, data: string, before: () => void): void {
    this.clear();
    this.write(RESET);
    this.run(() => {
      this.term.resize(cols, rows);
      this.term.reset();
      before();
      this.parse(data);
    });
  }

  /** clear drops everything that was not handed to the parser yet. */
  clear(): void {
    this.steps = [];
    this.waiting = 0;
  }

  private pump(): void {
    while (!this.parsing) {
      const step = this.steps.shift();
      if (step === undefined) return;
      if (typeof step === "string") {
        this.waiting -= step.length;
        this.parse(step);
      } else step();
    }
  }

  private parse(data: string): void {
    this.parsing = true;
    this.term.write(data, () => {
      this.parsing = false;
      this.pump();
    });
  }
}
