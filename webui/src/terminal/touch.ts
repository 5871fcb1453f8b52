import type { IDisposable, IMarker, Terminal } from "@xterm/xterm";
import { Grips } from "./grips";
import { moved, type Range, select, selected, spanning, whole, wordAt } from "./selection";

/** A finger must move this far, in CSS pixels, before it scrolls or extends: one that rests is never quite still. */
const SLACK = 8;
/** A finger that rests this long, in milliseconds, selects. */
const PRESS_MS = 500;
/** Two taps are one double tap within this time, in milliseconds, and this distance, in CSS pixels. */
const DOUBLE_MS = 400;
const DOUBLE_PX = 24;
/** While a finger that selects is past an edge, the history moves by a row this often, in milliseconds. */
const EDGE_MS = 80;

interface Point {
  clientX: number;
  clientY: number;
}

/**
 * Touch is what fingers do on a terminal, which xterm.js 6 leaves to the page: one finger scrolls, a long press or a
 * double tap selects a word, and a selection can be extended. Taps stay the browser's mouse events.
 */
export class Touch implements IDisposable {
  private readonly grips: Grips;
  private readonly listening = new AbortController();
  private doing: "nothing" | "pressing" | "drifting" | "scrolling" | "selecting" = "nothing";
  private pressed: ReturnType<typeof setTimeout> | undefined;
  private edge: ReturnType<typeof setInterval> | undefined;
  /** Where the finger is; while it scrolls, only whole rows are taken off the way. */
  private last: Point = { clientX: 0, clientY: 0 };
  /** When the finger came down, by the clock of events; long ago for one that takes a grip. */
  private began = 0;
  /** What stays selected while a finger selects, and how far the finger is from the cell that it means. */
  private anchor: Range = { from: 0, to: 0 };
  /** What a finger selected last, as counted then, and its first row, which goes when the history drops it. */
  private range: Range = { from: 0, to: 0 };
  private row: IMarker | undefined;
  private offset = { x: 0, y: 0 };
  private tapped = { at: Number.NEGATIVE_INFINITY, x: 0, y: 0, focused: false };

  /**
   * `term` must be open in `host`. `changed` is called when a finger selected something: xterm.js does not report a
   * selection that is the one before the last. `lookBack` is called when a finger scrolls up in the history.
   */
  constructor(
    private readonly host: HTMLElement,
    private readonly term: Terminal,
    private readonly changed: () => void,
    private readonly lookBack: () => void,
  ) {
    this.grips = new Grips(term);
    const { signal } = this.listening;
    host.addEventListener("touchstart", (e) => this.start(e), { passive: true, signal });
    host.addEventListener("touchmove", (e) => this.move(e), { passive: false, signal });
    host.addEventListener("touchend", (e) => this.end(e), { passive: false, signal });
    host.addEventListener("touchcancel", () => this.stop(), { signal });
    // A long press would open the browser's menu and put xterm.js's field under the finger.
    const menu = (e: Event): void => {
      if (this.doing === "nothing") return;
      e.preventDefault();
      e.stopPropagation();
    };
    host.addEventListener("contextmenu", menu, { capture: true, signal });
  }

  /**
   * resize keeps what a finger selected where only the number of rows changes, as a keyboard does that opens or closes:
   * xterm.js takes it back, although the history stays as it is.
   */
  resize(cols: number, rows: number): void {
    const { term, row } = this;
    const range = this.grips.visible() ? selected(term) : null;
    const keep = cols === term.cols && term.buffer.active.type === "normal";
    const before = row?.line ?? 0;
    term.resize(cols, rows);
    if (range === null) return;
    if (!keep || row === undefined || row.isDisposed) {
      this.forget();
      return;
    }
    const by = (row.line - before) * cols;
    this.anchor = moved(this.anchor, by);
    this.select(moved(range, by));
  }

  dispose(): void {
    this.stop();
    this.listening.abort();
    this.grips.dispose();
  }

  private start(e: TouchEvent): void {
    this.stop();
    const touch = e.touches[0];
    if (!touch || e.touches.length > 1) return;
    this.last = touch;
    this.began = Number.NEGATIVE_INFINITY;
    const range = selected(this.term);
    const grip = range && this.grips.grabbed(e.target, range);
    if (grip) {
      const cell = this.place(grip.cell);
      this.offset = { x: cell.x - touch.clientX, y: cell.y - touch.clientY };
      this.begin(grip.anchor, range);
      return;
    }
    this.doing = "pressing";
    this.began = e.timeStamp;
    this.pressed = setTimeout(() => this.selectWord(touch), PRESS_MS);
  }

  private move(e: TouchEvent): void {
    const touch = e.touches[0];
    if (!touch || e.touches.length > 1 || this.doing === "nothing") return;
    if (this.doing === "selecting" && e.timeStamp - this.began < PRESS_MS && this.away(touch)) this.scrollInstead();
    if (this.doing === "selecting") {
      e.preventDefault();
      if (this.edge === undefined && !this.away(touch)) return;
      this.edge ??= setInterval(() => this.scrollAtEdge(), EDGE_MS);
      this.last = touch;
      this.extend();
      return;
    }
    const distance = this.last.clientY - touch.clientY;
    if (this.doing !== "scrolling") {
      const away = Math.abs(distance) >= SLACK;
      if (!away && Math.abs(this.last.clientX - touch.clientX) < SLACK) return;
      clearTimeout(this.pressed);
      this.doing = away ? "scrolling" : "drifting"; // sideways the browser moves a terminal that is wider than the page
      if (!away) return;
    }
    e.preventDefault();
    const height = this.box().height / this.term.rows || 1;
    const rows = Math.trunc(distance / height);
    this.last = { clientX: touch.clientX, clientY: this.last.clientY - rows * height };
    this.scroll(touch, this.pan(rows));
  }

  private away(at: Point): boolean {
    return Math.hypot(this.last.clientX - at.clientX, this.last.clientY - at.clientY) >= SLACK;
  }

  /** scrollInstead takes back a selection: the finger had moved in time, and a busy page heard of it late. */
  private scrollInstead(): void {
    this.stop();
    this.forget();
    this.doing = "pressing";
  }

  private end(e: TouchEvent): void {
    const { doing } = this;
    this.stop();
    if (doing === "selecting") e.preventDefault(); // or mouse events would follow, which clear the selection
    if (doing === "pressing") this.tap(e);
  }

  private stop(): void {
    clearTimeout(this.pressed);
    clearInterval(this.edge);
    this.edge = undefined;
    this.doing = "nothing";
  }

  /** tap selects the word of a double tap, unless taps are the program's, or clears the selection. */
  private tap(e: TouchEvent): void {
    const { at, x, y, focused } = this.tapped;
    const { clientX, clientY } = this.last;
    const near = Math.hypot(clientX - x, clientY - y) < DOUBLE_PX;
    const double = near && e.timeStamp - at < DOUBLE_MS && this.term.modes.mouseTrackingMode === "none";
    const hasFocus = document.activeElement === this.term.textarea;
    this.tapped = { at: double ? Number.NEGATIVE_INFINITY : e.timeStamp, x: clientX, y: clientY, focused: hasFocus };
    if (!double && !this.term.hasSelection()) return;
    e.preventDefault();
    if (!double) this.term.clearSelection();
    else {
      if (!focused) this.term.blur(); // the first tap called the keyboard
      this.selectWord(this.last);
      this.stop();
    }
  }

  private selectWord(at: Point): void {
    this.offset = { x: 0, y: 0 };
    const { wordSeparator } = this.term.options;
    const word = wordAt(this.term.buffer.active, this.term.cols, wordSeparator ?? " ", this.cell(at));
    this.begin(word, word);
  }

  private begin(anchor: Range, range: Range): void {
    this.doing = "selecting";
    this.anchor = anchor;
    this.select(range);
  }

  /** extend selects up to the finger. Rows that the history dropped meanwhile have moved the selection. */
  private extend(): void {
    const now = selected(this.term);
    if (now === null) {
      this.stop();
      return;
    }
    this.anchor = moved(this.anchor, now.from - this.range.from);
    this.select(whole(this.term, spanning(this.anchor, this.cell(this.last))));
  }

  private select(range: Range): void {
    select(this.term, range);
    this.range = range;
    this.follow();
    this.grips.show();
    this.changed();
  }

  /** follow takes a selection back whose first row the history drops: xterm.js would select other text in its place. */
  private follow(): void {
    const { row: old, term } = this;
    const { baseY, cursorY } = term.buffer.active;
    const row = term.registerMarker(Math.floor(this.range.from / term.cols) - baseY - cursorY);
    this.row = row;
    old?.dispose();
    row.onDispose(() => {
      const now = this.row === row ? selected(term) : null;
      if (now !== null && now.from < term.cols) this.forget();
    });
  }

  private forget(): void {
    this.term.clearSelection();
    this.changed();
  }

  private scrollAtEdge(): void {
    const { top, bottom } = this.box();
    const view = this.host.getBoundingClientRect();
    const y = this.last.clientY + this.offset.y;
    const rows = y < Math.max(top, view.top) ? -1 : y > Math.min(bottom, view.bottom) ? 1 : 0;
    if (rows === 0) return;
    this.term.scrollLines(this.pan(rows));
    this.extend();
  }

  /** pan moves a terminal that is higher than the page by rows, as far as it goes, and returns the rest of them. */
  private pan(rows: number): number {
    const { host } = this;
    const height = this.box().height / this.term.rows || 1;
    const before = host.scrollTop;
    host.scrollTop += rows * height;
    return rows - Math.round((host.scrollTop - before) / height);
  }

  /**
   * scroll moves by rows, to newer ones when positive. Where a program reads the wheel, or there is no history, each
   * row is an event of the wheel: xterm.js makes one report or cursor key of each, whatever its distance.
   */
  private scroll(at: Point, rows: number): void {
    const tracking = this.term.modes.mouseTrackingMode;
    if (this.term.buffer.active.type === "normal" && (tracking === "none" || tracking === "x10")) {
      if (rows < 0) this.lookBack();
      this.term.scrollLines(rows);
      return;
    }
    const init = {
      deltaY: Math.sign(rows),
      deltaMode: WheelEvent.DOM_DELTA_LINE,
      clientX: at.clientX,
      clientY: at.clientY,
      bubbles: true,
      cancelable: true,
    };
    for (let i = Math.abs(rows); i > 0; i--) this.screen()?.dispatchEvent(new WheelEvent("wheel", init));
  }

  private screen(): Element | null {
    return this.host.querySelector(".xterm-screen");
  }

  private box(): DOMRect {
    return (this.screen() ?? this.host).getBoundingClientRect();
  }

  /** cell is the number of the cell (Range) that a finger at `at` means, the nearest one outside of the screen. */
  private cell(at: Point): number {
    const { cols, rows, buffer } = this.term;
    const { left, top, width, height } = this.box();
    const within = (share: number, cells: number): number =>
      Math.min(Math.max(Math.floor(share * cells), 0), cells - 1);
    const x = within((at.clientX + this.offset.x - left) / width, cols);
    return (buffer.active.viewportY + within((at.clientY + this.offset.y - top) / height, rows)) * cols + x;
  }

  /** place is the middle of a cell on the page. */
  private place(cell: number): { x: number; y: number } {
    const { cols, rows, buffer } = this.term;
    const { left, top, width, height } = this.box();
    const row = Math.floor(cell / cols) - buffer.active.viewportY;
    return { x: left + (((cell % cols) + 0.5) * width) / cols, y: top + ((row + 0.5) * height) / rows };
  }
}
