import type { ClientMessage, ServerEvent, Size } from "../api/wire";
import { watchSize } from "../browser";
import { hasEnded } from "../list/model";
import { LazyHistory } from "./lazyhistory";
import { Position } from "./position";
import type { Choice } from "./renderer";
import { Screen, type ScreenEvents } from "./screen";
import type { SizeMode } from "./size";
import { colors } from "./theme";
import { chooseRenderer } from "./webgl";

/** Terminals attached at once, the shown one included: switching back is instant, and the server's work bounded. */
const MAX_OPEN = 6;
/** The window must keep its size this long, in milliseconds, before the server is asked to resize. */
const SETTLE_MS = 100;

interface Opened {
  readonly id: string;
  readonly screen: Screen;
  readonly position: Position;
  readonly history: LazyHistory;
  /** Has shown a screen, of this attachment or an older one. */
  drawn: boolean;
  /** Fell too far behind and was detached; attached again when the page is visible. */
  behind: boolean;
  /** Somebody has removed this page: it comes back when the user says so. */
  removed: boolean;
  /** The exit of this attachment came: nothing follows, unless the terminal is restarted. */
  ended: boolean;
  /** The size that would fill the page, as the server was asked for it in the mode `fit`. */
  wanted: Size | null;
}

export interface PoolDeps {
  send(message: ClientMessage): boolean;
  eventsFor(id: string): ScreenEvents;
  /** The state the server lists for a terminal. */
  stateOf(id: string): string;
  /** Whether the line to the server is slow. */
  slow(): boolean;
  /** Called when the shown terminal's size, wanted size or first screen changed. */
  changed(): void;
}

const same = (a: Size | null, b: Size | null): boolean => a?.cols === b?.cols && a?.rows === b?.rows;

/** keyOf is the same for messages that attach the same: how fast the line is may be known better a moment later. */
const keyOf = (message: ClientMessage): string => JSON.stringify({ ...message, history: undefined });

/** Pool holds the screens of the terminals this page opened, the least recently shown first. */
export class Pool {
  private readonly opened = new Map<string, Opened>();
  private area: HTMLElement | null = null;
  private shownOne: Opened | null = null;
  /** How all screens are drawn; made with the first one. */
  private renderer: Choice | undefined;
  /** Only `fit` asks the server for sizes, so not before setMode has said it. */
  private mode: SizeMode = "pan";
  /** What greeting has said on the connection that is opening, as a key; "" for nothing. */
  private greeted = "";
  private settle: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly deps: PoolDeps) {}

  /** mount gives the pool its place in the page. Call it once, before activate. */
  mount(area: HTMLElement): void {
    this.area = area;
    watchSize(area, () => this.applySizeSoon());
    area.addEventListener("pointerdown", () => this.repeatSize());
  }

  /** activate shows terminal `id`, attaching it when this page did not have it; null shows none. */
  activate(id: string | null): void {
    if (this.shownOne !== null && this.shownOne.id !== id) this.hide(this.shownOne);
    this.shownOne = null;
    if (id !== null && this.area !== null) this.show(id, this.area);
    this.deps.changed();
  }

  /** shown is the id of the terminal on display. */
  shown(): string | null {
    return this.shownOne?.id ?? null;
  }

  /** current is the screen of the terminal on display. */
  current(): Screen | null {
    return this.shownOne?.screen ?? null;
  }

  /** drawn says whether the shown terminal has a screen to look at, current or not. */
  drawn(): boolean {
    return this.shownOne?.drawn ?? false;
  }

  /** letterboxed says whether the shown terminal has not the size that would fill the page. */
  letterboxed(): boolean {
    const one = this.shownOne;
    return !!one?.wanted && one.position.fresh() && !same(one.wanted, one.screen.size());
  }

  /** wantedSize is the size a new terminal should have to fill the area, if any terminal is shown to measure by. */
  wantedSize(): Size | null {
    return this.shownOne?.wanted ?? null;
  }

  /** setMode changes what the page does about sizes. A size that was asked for is withdrawn by attaching again. */
  setMode(mode: SizeMode): void {
    const asks = (m: SizeMode): boolean => m === "fit";
    const again = asks(mode) !== asks(this.mode);
    this.mode = mode;
    for (const { screen } of this.opened.values()) screen.scale(mode === "scale");
    if (again) this.reattach();
    this.deps.changed();
  }

  /** wantHistory asks for the history of a terminal, the shown one without `id`, if only its screen has come so far. */
  wantHistory(id?: string): void {
    (id === undefined ? this.shownOne : this.opened.get(id))?.history.want();
  }

  private askHistory(entry: Opened): boolean {
    if (!entry.position.fresh() || entry.removed) return false;
    if (!entry.ended) return this.deps.send({ type: "history", pty: entry.id });
    entry.position.forget(); // nothing follows the exit: another attachment has all
    return this.attach(entry);
  }

  /** greeting is what attaches the shown terminal when a connection begins, before the server has let it in. */
  greeting(): ClientMessage[] {
    if (this.shownOne === null || this.shownOne.removed) return [];
    const message = this.attachment(this.shownOne);
    this.greeted = keyOf(message);
    return [message];
  }

  /**
   * reattach asks for all opened terminals on a new connection, but for the one that it was greeted with. Old screens
   * stay, and go on if the server can.
   */
  reattach(): void {
    for (const entry of this.opened.values()) {
      if (entry.removed) continue;
      const message = this.attachment(entry);
      if (keyOf(message) !== this.greeted) this.deps.send(message);
    }
    this.greeted = "";
  }

  /** watchAgain attaches a terminal that somebody has removed this page from. */
  watchAgain(id: string): void {
    const entry = this.opened.get(id);
    if (entry) this.attach(entry);
  }

  /** catchUp attaches the terminals again that fell behind while the page was hidden. */
  catchUp(): void {
    for (const entry of this.opened.values()) if (entry.behind) this.attach(entry);
  }

  /** retain drops the screens of terminals the server no longer lists, except the shown one. */
  retain(ids: ReadonlySet<string>): void {
    for (const entry of this.opened.values()) if (!ids.has(entry.id)) this.drop(entry);
  }

  /** updateStates shows which terminals have lost their process, or got one again: those are followed again. */
  updateStates(): void {
    for (const entry of this.opened.values()) {
      const state = this.deps.stateOf(entry.id);
      if (!entry.screen.setState(state)) continue;
      if (!hasEnded(state) && entry.ended) this.attach(entry);
      this.applySizeSoon();
    }
  }

  /** handle applies a terminal's event to its screen. */
  handle(event: ServerEvent): void {
    if (!("pty" in event) || event.pty === undefined) return;
    const entry = this.opened.get(event.pty);
    if (event.event === "kicked" && entry) entry.removed = true;
    if (entry === undefined || entry.behind || event.event === "kicked") return;
    if (event.event === "meta" && event.input) entry.screen.inputMode(event.input);
    const attached = entry.position.fresh();
    if (!entry.position.take(event)) {
      if (event.event !== "resume") return;
      entry.position.forget(); // the screen cannot be continued
      this.attach(entry);
      return;
    }
    entry.history.take(event);
    if (event.event === "data") {
      if (!entry.screen.data(event.data)) this.fallBehind(entry);
      return;
    }
    if (event.event === "snapshot") entry.screen.snapshot(event);
    else if (event.event === "resume" || event.event === "resize") entry.screen.resize(event);
    else if (event.event === "exit") {
      entry.ended = true;
      entry.screen.ended();
    }
    if (event.event === "snapshot" || event.event === "resume") {
      entry.drawn = true;
      if (!attached) this.deps.send({ type: "colors", pty: event.pty, ...colors });
      this.deps.changed();
    }
  }

  private show(id: string, area: HTMLElement): void {
    const known = this.opened.get(id);
    const entry = known ?? this.create(id, area);
    // Deleting and setting again moves the entry to the end: the map's order is the order of use.
    this.opened.delete(id);
    this.opened.set(id, entry);
    this.shownOne = entry;
    entry.screen.show();
    if (known) {
      this.deps.send({ type: "show", pty: id });
      this.applySize();
    } else {
      this.attach(entry);
      for (const one of this.opened.values()) if (this.opened.size > MAX_OPEN) this.drop(one);
    }
  }

  /** hide keeps a terminal that is no longer shown: the server does not count this page among its viewers. */
  private hide({ id, screen }: Opened): void {
    screen.hide();
    this.deps.send({ type: "hide", pty: id });
  }

  private create(id: string, area: HTMLElement): Opened {
    this.renderer ??= chooseRenderer();
    const screen = new Screen(`Terminal ${id}`, this.renderer, this.deps.eventsFor(id));
    screen.open(area);
    screen.setState(this.deps.stateOf(id));
    screen.scale(this.mode === "scale");
    screen.onResize(() => this.deps.changed());
    const entry: Opened = {
      id,
      screen,
      position: new Position(),
      history: new LazyHistory(() => this.askHistory(entry)),
      drawn: false,
      behind: false,
      removed: false,
      ended: false,
      wanted: null,
    };
    return entry;
  }

  /** attach returns false when it is not connected. */
  private attach(entry: Opened): boolean {
    return this.deps.send(this.attachment(entry));
  }

  /** attachment begins a new attachment and is the message that asks for it. */
  private attachment(entry: Opened): ClientMessage {
    const slow = this.deps.slow() && !entry.ended && !hasEnded(this.deps.stateOf(entry.id));
    entry.behind = false;
    entry.removed = false;
    entry.ended = false;
    const hidden = entry === this.shownOne ? {} : { hidden: true };
    entry.wanted = entry.screen.wantedSize() ?? entry.wanted;
    const size = this.mode === "fit" ? entry.wanted : null;
    const since = entry.position.attach();
    const history = entry.history.attach(slow, since.since !== undefined);
    return { type: "attach", pty: entry.id, ...since, ...history, ...size, ...hidden };
  }

  private fallBehind(entry: Opened): void {
    entry.screen.forget();
    entry.position.forget();
    entry.behind = true;
    this.deps.send({ type: "detach", pty: entry.id });
    if (!document.hidden) this.attach(entry);
  }

  private applySizeSoon(): void {
    clearTimeout(this.settle);
    this.settle = setTimeout(() => this.applySize(), SETTLE_MS);
  }

  /** applySize tells the server when the size that would fill the page's area has changed. */
  applySize(): void {
    const one = this.shownOne;
    const wanted = one?.screen.wantedSize() ?? null;
    if (one === null || wanted === null || same(wanted, one.wanted)) return;
    one.wanted = wanted;
    this.requestSize(one.id, wanted);
    this.deps.changed();
  }

  /** repeatSize asks for the wanted size again when the user touches a terminal that has another viewer's size. */
  private repeatSize(): void {
    if (this.shownOne?.wanted && this.letterboxed()) this.requestSize(this.shownOne.id, this.shownOne.wanted);
  }

  private requestSize(id: string, size: Size): void {
    if (this.mode === "fit" && !hasEnded(this.deps.stateOf(id))) this.deps.send({ type: "resize", pty: id, ...size });
  }

  /** drop closes a terminal, unless it is the one on display. */
  private drop(entry: Opened): void {
    if (entry === this.shownOne) return;
    entry.screen.dispose();
    entry.history.dispose();
    this.opened.delete(entry.id);
    this.deps.send({ type: "detach", pty: entry.id });
  }
}
