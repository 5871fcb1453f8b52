import type { ServerEvent } from "../api/wire";
import type { CommandAttach } from "../api/wire.gen";

/** Where the server answers later than this, in milliseconds, the screen comes first, the history when it is wanted. */
export const SLOW_MS = 100;
/** A terminal that brings nothing for this long behind its screen leaves the line to its history, in milliseconds. */
export const QUIET_MS = 3_000;

/** LazyHistory asks for the history of a terminal whose snapshot had the screen alone, once per attachment. */
export class LazyHistory {
  private lacks = false;
  private asked = false;
  private quiet: ReturnType<typeof setTimeout> | undefined;

  /** `ask` asks the server for all of the terminal, and returns false when it cannot. */
  constructor(private readonly ask: () => boolean) {}

  /**
   * attach begins a new attachment and returns what it asks for. One that goes on where the screen was lacks what the
   * screen lacks.
   */
  attach(slow: boolean, goesOn: boolean): Pick<CommandAttach, "history"> {
    this.asked = false;
    this.dispose();
    return slow || (goesOn && this.lacks) ? { history: "lazy" } : {};
  }

  /** take notes what came for the screen. */
  take(event: ServerEvent): void {
    if (event.event === "snapshot") this.lacks = event.partial === true;
    if (event.event === "exit") this.asked = false; // what was asked for meanwhile does not come
    clearTimeout(this.quiet);
    if (this.lacks && !this.asked) this.quiet = setTimeout(() => this.want(), QUIET_MS);
  }

  /** want asks for the history when the screen lacks it: the user looks back, or nothing else comes. */
  want(): void {
    if (!this.lacks || this.asked) return;
    clearTimeout(this.quiet);
    this.asked = this.ask();
  }

  dispose(): void {
    clearTimeout(this.quiet);
  }
}
