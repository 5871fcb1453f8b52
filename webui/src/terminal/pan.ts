import type { Terminal } from "@xterm/xterm";

/** Pan keeps the cursor of a terminal that is larger than the page in view, unless the user has scrolled away. */
export class Pan {
  private follows = true;
  /** Where toCursor has put the view last: an event of scrolling that finds it there is not the user's. */
  private placed = { top: 0, left: 0 };

  /** `term` scrolls in `host`. */
  constructor(
    private readonly host: HTMLElement,
    private readonly term: Pick<Terminal, "buffer" | "cols" | "rows">,
  ) {
    host.addEventListener("scroll", () => this.scrolled(), { passive: true });
  }

  /** toCursor brings the cursor into view: as much as fits from the top, and from the left. */
  toCursor(): void {
    this.follows = true;
    requestAnimationFrame(() => {
      const { cursorX, cursorY } = this.term.buffer.active;
      const { scrollWidth, scrollHeight, clientWidth, clientHeight } = this.host;
      this.host.scrollTop = Math.max(0, ((cursorY + 2) * scrollHeight) / this.term.rows - clientHeight);
      this.host.scrollLeft = Math.max(0, ((cursorX + 2) * scrollWidth) / this.term.cols - clientWidth);
      this.placed = { top: this.host.scrollTop, left: this.host.scrollLeft };
    });
  }

  /** follow is called when output may have moved the cursor. */
  follow(): void {
    const { baseY, viewportY } = this.term.buffer.active;
    if (this.follows && baseY === viewportY && !this.seesCursor()) this.toCursor();
  }

  private scrolled(): void {
    const { scrollTop, scrollLeft } = this.host;
    if (scrollTop !== this.placed.top || scrollLeft !== this.placed.left) this.follows = this.seesCursor();
  }

  private seesCursor(): boolean {
    const { cols, rows, buffer } = this.term;
    const { scrollTop, scrollLeft, scrollWidth, scrollHeight, clientWidth, clientHeight } = this.host;
    const within = (cell: number, size: number, from: number, room: number): boolean =>
      cell * size >= from - 1 && (cell + 1) * size <= from + room + 1; // the browser scrolls by parts of a pixel
    return (
      within(buffer.active.cursorY, scrollHeight / rows, scrollTop, clientHeight) &&
      within(Math.min(buffer.active.cursorX, cols - 1), scrollWidth / cols, scrollLeft, clientWidth)
    );
  }
}
