import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { type IDisposable, Terminal } from "@xterm/xterm";
import { MAX_CELLS, type Size, type Snapshot } from "../api/wire";
import type { InputMode } from "../api/wire.gen";
import { watchSize } from "../browser";
import { hasBanner, hasEnded } from "../list/model";
import { looksBack, shortcutOf } from "./keys";
import { mute } from "./mute";
import { Pan } from "./pan";
import { serverPixels } from "./pixels";
import { Prediction } from "./prediction";
import type { Choice } from "./renderer";
import { largestFont } from "./size";
import { fontFamily, fontSize, theme } from "./theme";
import { Touch } from "./touch";
import { accelerate } from "./webgl";
import { Writer } from "./writer";

/** Lines of history kept per terminal; the server keeps the same number. */
const SCROLLBACK = 5000;

export interface ScreenEvents {
  /** Keystrokes, mouse and focus reports: all of it is the user's. It reports whether they were sent as they are. */
  input(data: string): boolean;
  /** The round trip time of typed text in milliseconds; 0 where nothing of it is to be shown before it comes back. */
  rtt(): number;
  /** Mouse reports in the encodings before SGR: each character of the string is one byte. */
  bytes(data: string): void;
  paste(text: string): void;
  copy(text: string): void;
  selected(): void;
  focus(): void;
  /** The renderer changed by itself, so the size that fills the element may have changed too. */
  redrawn(): void;
  search(): void;
  /** The user wants to see what is above the screen. */
  lookBack(): void;
  /** A link is under the pointer (hover) or was clicked without the modifier (shown); null: no link any more. */
  link(address: string | null, shown: boolean): void;
  open(address: string): void;
}

/** Screen is one xterm.js terminal in its own element. It shows the server's output and reports the user's input. */
export class Screen {
  readonly host = document.createElement("div");
  readonly search = new SearchAddon();
  readonly term: Terminal;
  private readonly fit = new FitAddon();
  private readonly writer: Writer;
  private readonly pan: Pan;
  private readonly parts: IDisposable[] = [];
  private touch: Touch | null = null;
  private prediction: Prediction | null = null;
  private gpu: IDisposable | null = null;
  private state = "running";
  /** See scale, and for which sizes the letters are right. */
  private scaled = false;
  private scaledFor = "";
  /** How far the user had scrolled up, in rows, when a snapshot came without what they were looking at. */
  private lost = 0;

  constructor(
    label: string,
    private readonly renderer: Choice,
    private readonly events: ScreenEvents,
  ) {
    this.host.className = "screen";
    this.host.setAttribute("aria-label", label);
    this.host.setAttribute("role", "group");
    this.host.hidden = true;
    this.term = new Terminal({
      allowProposedApi: true, // unicode versions and search decorations
      cursorBlink: true,
      fontFamily,
      fontSize: fontSize(),
      theme,
      scrollback: SCROLLBACK,
      linkHandler: this.links(),
    });
    this.writer = new Writer(this.term);
    this.pan = new Pan(this.host, this.term);
    this.load();
  }

  /** open draws the terminal into `area`, hidden. xterm.js measures its font here, so `area` must be in the page. */
  open(area: HTMLElement): void {
    area.appendChild(this.host);
    this.host.hidden = false;
    this.term.open(this.host);
    this.host.hidden = true;
    this.listen();
    watchSize(this.host, () => {
      this.adjustFont();
      this.pan.toCursor();
    });
  }

  /**
   * snapshot replaces everything shown; a user who scrolled up stays as far from the end as before, and is there again
   * once the history has come that a partial one lacks.
   */
  snapshot(s: Snapshot): void {
    const { baseY, viewportY } = this.term.buffer.active;
    const up = Math.max(baseY - viewportY, this.lost);
    this.lost = s.partial ? up : 0;
    this.writer.replace(s.cols, s.rows, s.data, () => {
      this.term.unicode.activeVersion = this.term.unicode.versions.includes(s.unicode) ? s.unicode : "11";
      this.prediction?.reset();
    });
    if (up > 0) this.writer.run(() => this.term.scrollLines(-up));
    else this.writer.run(() => this.pan.toCursor());
  }

  /** inputMode notes what the terminal does with what is typed. */
  inputMode(mode: InputMode): void {
    this.prediction?.setMode(mode);
  }

  /** data shows output; false when the page is too far behind and needs a snapshot (MAX_BACKLOG). */
  data(text: string): boolean {
    return this.writer.write(text);
  }

  resize({ cols, rows }: Size): void {
    this.writer.run(() => (this.touch ?? this.term).resize(cols, rows));
  }

  /** ended brings the cursor into view once the last output was drawn. */
  ended(): void {
    this.writer.run(() => this.pan.toCursor());
  }

  /** forget drops output that was not drawn yet. */
  forget(): void {
    this.writer.clear();
  }

  size(): Size {
    return { cols: this.term.cols, rows: this.term.rows };
  }

  /** wantedSize is the size that would fill the element with letters as usual, or null while it is hidden. */
  wantedSize(): Size | null {
    const wanted = this.host.hidden ? undefined : this.fit.proposeDimensions();
    if (!wanted || !Number.isFinite(wanted.cols) || !Number.isFinite(wanted.rows)) return null;
    const share = (this.term.options.fontSize ?? fontSize()) / fontSize();
    const cells = (n: number): number => Math.min(Math.floor(n * share), MAX_CELLS);
    return { cols: cells(wanted.cols), rows: cells(wanted.rows) };
  }

  /** scale makes the letters so small that all of the terminal is in view, or as large as usual again. */
  scale(on: boolean): void {
    this.scaled = on;
    this.adjustFont();
  }

  /** adjustFont does so for the sizes of now; a hidden terminal has none. */
  private adjustFont(): void {
    if (this.host.hidden) return;
    const { options, cols, rows } = this.term;
    const usual = fontSize();
    const sizes = [cols, rows, this.host.offsetWidth, this.host.offsetHeight, usual, this.gpu !== null].join();
    if (!this.scaled) options.fontSize = usual;
    else if (sizes !== this.scaledFor) options.fontSize = largestFont(usual, (font) => this.holds(font));
    this.scaledFor = this.scaled ? sizes : "";
  }

  /** holds says whether the element has room for all of the terminal in letters of a size, which it sets. */
  private holds(font: number): boolean {
    this.term.options.fontSize = font;
    const room = this.fit.proposeDimensions();
    return room !== undefined && room.cols >= this.term.cols && room.rows >= this.term.rows;
  }

  show(): void {
    this.host.hidden = false;
    this.draw();
  }

  /** draw begins to draw in the way that was chosen for the page. */
  private draw(): void {
    const webgl = this.renderer.current() === "webgl";
    if (webgl) this.gpu ??= accelerate(this.term, () => this.drawPlainly());
    if (webgl && this.gpu === null) this.renderer.refuse("webgl");
    if (!webgl) this.release();
    this.adjustFont();
  }

  /** drawPlainly goes on without WebGL, which this browser takes away or draws wrongly. */
  private drawPlainly(): void {
    this.renderer.refuse("webgl");
    this.release();
    this.adjustFont();
    this.events.redrawn();
  }

  private release(): void {
    this.gpu?.dispose(); // harmless after a context loss: disposing twice does nothing
    this.gpu = null;
  }

  /** time measures a frame in which something was drawn, as long as the choice of the renderer is open. */
  private time(): void {
    if (this.host.hidden || document.hidden || !this.renderer.measuring()) return;
    const begin = performance.now();
    requestAnimationFrame(() => {
      if (document.hidden || !this.renderer.note(performance.now() - begin)) return;
      this.draw();
      this.events.redrawn();
    });
  }

  hide(): void {
    this.host.hidden = true;
    this.release();
  }

  /** setState stops input into a terminal without a process and makes room for the banner. It reports a change. */
  setState(state: string): boolean {
    if (state === this.state) return false;
    this.state = state;
    this.term.options.disableStdin = hasEnded(state);
    this.term.options.cursorBlink = !hasEnded(state);
    this.host.classList.toggle("with-banner", hasBanner(state));
    return true;
  }

  onResize(listener: () => void): void {
    const resized = (): void => {
      this.adjustFont();
      this.pan.toCursor();
      listener();
    };
    this.parts.push(this.term.onResize(resized));
  }

  /** typed does to the view what a typed key does: it scrolls to the end and clears the selection. */
  typed(): void {
    this.prediction?.disturb(); // it was none that this screen has seen
    this.term.input("");
  }

  /** text is the screen without its history: rows from top to bottom, trailing blanks trimmed. */
  text(): string {
    const buffer = this.term.buffer.active;
    const rows = Array.from(
      { length: this.term.rows },
      (_, y) => buffer.getLine(buffer.baseY + y)?.translateToString(true) ?? "",
    );
    return rows.join("\n");
  }

  dispose(): void {
    this.hide();
    this.writer.clear();
    for (const p of this.parts) p.dispose();
    this.term.dispose();
    this.host.remove();
  }

  private load(): void {
    this.term.loadAddon(this.fit);
    this.term.loadAddon(this.search);
    this.term.loadAddon(new Unicode11Addon());
    this.term.loadAddon(new UnicodeGraphemesAddon());
    const { activate, hover, leave } = this.links();
    this.term.loadAddon(new WebLinksAddon(activate, { hover, leave }));
    this.term.unicode.activeVersion = "11";
  }

  private listen(): void {
    const muted = mute(this.term.parser);
    const forward = (data: string): void => {
      if (muted.active()) return;
      this.lost = 0;
      if (this.events.input(data)) this.prediction?.typed(data);
      else this.prediction?.disturb();
      this.pan.toCursor();
    };
    const bytes = this.term.onBinary((data) => {
      this.events.bytes(data);
      this.prediction?.disturb();
    });
    const selected = (): void => this.events.selected();
    this.touch = new Touch(this.host, this.term, selected, () => this.events.lookBack());
    this.prediction = new Prediction(this.term, () => this.events.rtt());
    this.parts.push(
      this.touch,
      this.prediction,
      muted,
      this.term.onData(forward),
      bytes,
      serverPixels(this.term),
      this.term.onSelectionChange(selected),
      this.term.onRender(selected), // output that leaves the history may take the selection along
      this.term.onRender(() => this.time()),
      this.term.onRender(() => this.pan.follow()),
    );
    this.term.attachCustomKeyEventHandler((e) => this.shortcut(e));
    this.term.textarea?.addEventListener("focus", () => this.events.focus());
    this.host.addEventListener("wheel", (e) => this.wheel(e), { passive: true, capture: true });
    this.host.addEventListener("paste", (e) => this.paste(e), true);
  }

  private wheel(e: WheelEvent): void {
    if (e.deltaY > 0) this.lost = 0;
    if (e.deltaY < 0 && this.term.buffer.active.type === "normal") this.events.lookBack();
  }

  private shortcut(e: KeyboardEvent): boolean {
    const shortcut = shortcutOf(e);
    if (looksBack(e)) this.events.lookBack();
    if (shortcut === null) return true;
    e.preventDefault();
    if (e.type === "keydown" && shortcut === "copy") this.events.copy(this.term.getSelection());
    if (e.type === "keydown" && shortcut === "search") this.events.search();
    return false;
  }

  /** paste goes out as its own message: the server knows whether the program wants it bracketed. */
  private paste(e: ClipboardEvent): void {
    e.preventDefault();
    e.stopPropagation();
    const text = e.clipboardData?.getData("text/plain") ?? "";
    if (text !== "" && this.term.options.disableStdin !== true) this.events.paste(text);
    if (this.term.textarea) this.term.textarea.value = "";
  }

  private links() {
    return {
      activate: (e: MouseEvent, uri: string): void =>
        e.ctrlKey || e.metaKey ? this.events.open(uri) : this.events.link(uri, true),
      hover: (_: MouseEvent, uri: string): void => this.events.link(uri, false),
      leave: (): void => this.events.link(null, false),
      allowNonHttpProtocols: false,
    };
  }
}
