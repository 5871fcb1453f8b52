import type { IDisposable, Terminal } from "@xterm/xterm";
import { type Range, selected } from "./selection";

/** Width of a grip's drop (style), and how much of it stays inside of the screen, in CSS pixels. */
const DROP_PX = 20;
const EDGE_PX = 10;

/** Grip is the end of a selection that a finger holds, and the other end, which stays. */
interface Grip {
  cell: number;
  anchor: Range;
}

function grip(end: "from" | "to"): HTMLElement {
  const element = document.createElement("div");
  element.className = `grip ${end}`;
  element.setAttribute("aria-hidden", "true");
  element.hidden = true;
  return element;
}

/** Grips are the handles below both ends of what a finger selected. They follow the selection and go with it. */
export class Grips implements IDisposable {
  private readonly from = grip("from");
  private readonly to = grip("to");
  private readonly parts: IDisposable[];
  private shown = false;

  /** `term` must be open. */
  constructor(private readonly term: Terminal) {
    term.element?.querySelector(".xterm-screen")?.append(this.from, this.to);
    const place = (): void => this.place();
    this.parts = [term.onSelectionChange(place), term.onRender(place), term.onScroll(place)];
  }

  /** show shows them until nothing is selected any more. */
  show(): void {
    this.shown = true;
    this.place();
  }

  /** visible says whether they are, or would be if their rows were on the screen. */
  visible(): boolean {
    return this.shown;
  }

  /** grabbed is the grip of the selected `range` that `target` is, null when it is none. */
  grabbed(target: EventTarget | null, range: Range): Grip | null {
    if (target === this.from) return { cell: range.from, anchor: { from: range.to, to: range.to } };
    return target === this.to ? { cell: range.to - 1, anchor: { from: range.from, to: range.from } } : null;
  }

  dispose(): void {
    for (const p of this.parts) p.dispose();
    this.from.remove();
    this.to.remove();
  }

  private place(): void {
    if (!this.shown) return;
    const range = selected(this.term);
    this.shown = range !== null;
    this.placeOne(this.from, range?.from ?? null);
    this.placeOne(this.to, range === null ? null : range.to - 1, 1);
  }

  /** placeOne puts a grip below a cell, at its left side or, with `side` 1, at its right one. */
  private placeOne(element: HTMLElement, cell: number | null, side = 0): void {
    const { cols, rows, buffer } = this.term;
    const row = cell === null ? -1 : Math.floor(cell / cols) - buffer.active.viewportY;
    element.hidden = row < 0 || row >= rows;
    if (cell === null || element.hidden) return;
    const left = `${(((cell % cols) + side) * 100) / cols}%`;
    element.style.left = side === 0 ? `max(${left}, ${DROP_PX}px)` : `min(${left}, 100% - ${EDGE_PX}px)`;
    element.style.top = `min(${((row + 1) * 100) / rows}%, 100% - ${EDGE_PX}px)`;
  }
}
