/** How xterm.js draws: with WebGL, or with elements of the page. */
export type Renderer = "webgl" | "dom";

/** Frames of which one measurement is made: enough that a single hiccup of the page does not count. */
export const FRAMES = 24;
/** A frame that takes longer than this, in milliseconds, is seen as a stutter: fewer than 25 a second. */
export const SMOOTH_MS = 40;

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/**
 * Choice decides for the whole page how its terminals are drawn. It begins with what the browser seems to be made
 * for, looks at how long frames really take, and when that is too long tries the other way and keeps the faster one.
 */
export class Choice {
  private readonly measured: Partial<Record<Renderer, number>> = {};
  private frames: number[] = [];
  private settled = false;
  private chosen: Renderer;

  constructor(first: Renderer, fixed = false) {
    this.chosen = first;
    this.settled = fixed;
  }

  current(): Renderer {
    return this.chosen;
  }

  /** measuring says whether `note` still wants to know. */
  measuring(): boolean {
    return !this.settled;
  }

  /** refuse says that a way does not work in this browser. */
  refuse(renderer: Renderer): void {
    this.chosen = renderer === "webgl" ? "dom" : "webgl";
    this.settled = true;
  }

  /** note takes the milliseconds of a frame in which something was drawn. It reports a change of the choice. */
  note(ms: number): boolean {
    if (this.settled) return false;
    this.frames.push(ms);
    if (this.frames.length < FRAMES) return false;
    const before = this.chosen;
    this.measured[before] = median(this.frames);
    this.frames = [];
    this.decide();
    return this.chosen !== before;
  }

  private decide(): void {
    const { webgl, dom } = this.measured;
    if ((this.measured[this.chosen] ?? 0) <= SMOOTH_MS) this.settled = true;
    else if (webgl === undefined || dom === undefined) this.chosen = this.chosen === "webgl" ? "dom" : "webgl";
    else {
      this.chosen = webgl < dom ? "webgl" : "dom";
      this.settled = true;
    }
  }
}
