import type { ClientMessage, ServerEvent, Size } from "../api/wire";
import { watchSize } from "../browser";
import { hasEnded } from "../list/model";
import { Position } from "./position";
import { Screen, type ScreenEvents } from "./screen";
import { colors } from "./theme";

/**
 * Terminals kept attached at once, the shown one included: switching back is instant, and the server's work bounded.
 */
const MAX_OPEN = 6;
/** The window must keep its size this long, in milliseconds, before the server is asked to resize. */
const SETTLE_MS = 100;

interface Opened {
  screen: Screen;
  position: Position;
  /** Has shown a screen, of this attachment or an older one. */
  drawn: boolean;
  /** Fell too far behind and was detached; attached again when the page is visible. */
  behind: boolean;
  /** The exit of this attachment came: nothing follows, unless the terminal is restarted. */
  ended: boolean;
  /** The size that would fill the page, as the server was asked for it. */
  wanted: Size | null;
}

export interface PoolDeps {
  send(message: ClientMessage): boolean;
  eventsFor(id: string): ScreenEvents;
  /** The state the server lists for a terminal. */
  stateOf(id: string): string;
  /** Called when the shown terminal's size, wanted size or first screen changed. */
  changed(): void;
}

const same = (a: Size | null, b: Size | null): boolean => a?.cols === b?.cols && a?.rows === b?.rows;

/** Pool holds the screens of the terminals this page opened, the least recently shown first. */
export class Pool {
  private readonly opened = new Map<string, Opened>();
  private area: HTMLElement | null = null;
  private shownId: string | null = null;
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
    if (this.shownId !== null && this.shownId !== id) this.hide(this.shownId);
    this.shownId = id;
    if (id !== null && this.area !== null) this.show(id, this.area);
    this.deps.changed();
  }

  /** shown is the id of the terminal on display. */
  shown(): string | null {
    return this.shownId;
  }

  /** current is the screen of the terminal on display. */
  current(): Screen | null {
    return this.entry(this.shownId)?.screen ?? null;
  }

  /** drawn says whether the shown terminal has a screen to look at, current or not. */
  drawn(): boolean {
    return this.entry(this.shownId)?.drawn ?? false;
  }

  /** letterboxed says whether the shown terminal has not the wanted size. */
  letterboxed(): boolean {
    const entry = this.entry(this.shownId);
    return !!entry?.wanted && entry.position.fresh() && !same(entry.wanted, entry.screen.size());
  }

  /** wantedSize is the size a new terminal should have to fill the area, if any terminal is shown to measure by. */
  wantedSize(): Size | null {
    return this.entry(this.shownId)?.wanted ?? null;
  }

  /**
   * reattach asks for every opened terminal again, on a new connection. Old screens stay, and go on if the server
   * can.
   */
  reattach(): void {
    for (const [id, entry] of this.opened) this.attach(id, entry);
  }

  /** catchUp attaches the terminals again that fell behind while the page was hidden. */
  catchUp(): void {
    for (const [id, entry] of this.opened) if (entry.behind) this.attach(id, entry);
  }

  /** retain drops the screens of terminals the server no longer lists, except the shown one. */
  retain(ids: ReadonlySet<string>): void {
    for (const id of [...this.opened.keys()]) if (!ids.has(id) && id !== this.shownId) this.drop(id);
  }

  /**
   * updateStates tells the screens which terminals have lost their process, or got one again: those are followed
   * again.
   */
  updateStates(): void {
    for (const [id, entry] of this.opened) {
      const state = this.deps.stateOf(id);
      if (!entry.screen.setState(state)) continue;
      if (!hasEnded(state) && entry.ended) this.attach(id, entry);
      this.applySizeSoon();
    }
  }

  /** handle applies a terminal's event to its screen. */
  handle(event: ServerEvent): void {
    if (!("pty" in event) || event.pty === undefined) return;
    const entry = this.opened.get(event.pty);
    if (entry === undefined || entry.behind) return;
    const attached = entry.position.fresh();
    if (!entry.position.take(event)) {
      if (event.event === "resume") this.startOver(event.pty, entry);
      return;
    }
    if (event.event === "data") {
      if (!entry.screen.data(event.data)) this.fallBehind(event.pty, entry);
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

  private entry(id: string | null): Opened | undefined {
    return id === null ? undefined : this.opened.get(id);
  }

  private show(id: string, area: HTMLElement): void {
    const known = this.opened.get(id);
    const entry = known ?? this.create(id, area);
    // Deleting and setting again moves the entry to the end: the map's order is the order of use.
    this.opened.delete(id);
    this.opened.set(id, entry);
    entry.screen.show();
    if (known) {
      this.deps.send({ type: "show", pty: id });
      this.applySize();
    } else {
      entry.wanted = entry.screen.wantedSize();
      this.attach(id, entry);
      this.trim();
    }
  }

  /** hide keeps a terminal that is no longer shown: the server does not count this page among its viewers. */
  private hide(id: string): void {
    const entry = this.opened.get(id);
    if (entry === undefined) return;
    entry.screen.hide();
    this.deps.send({ type: "hide", pty: id });
  }

  private create(id: string, area: HTMLElement): Opened {
    const screen = new Screen(`Terminal ${id}`, this.deps.eventsFor(id));
    screen.open(area);
    screen.setState(this.deps.stateOf(id));
    screen.onResize(() => this.deps.changed());
    return { screen, position: new Position(), drawn: false, behind: false, ended: false, wanted: null };
  }

  private attach(id: string, entry: Opened): void {
    entry.behind = false;
    entry.ended = false;
    this.deps.send({
      type: "attach",
      pty: id,
      ...entry.position.attach(),
      ...entry.wanted,
      ...(id === this.shownId ? {} : { hidden: true }),
    });
  }

  /** startOver attaches a terminal whose screen cannot be continued. */
  private startOver(id: string, entry: Opened): void {
    entry.position.forget();
    this.attach(id, entry);
  }

  private fallBehind(id: string, entry: Opened): void {
    entry.screen.forget();
    entry.position.forget();
    entry.behind = true;
    this.deps.send({ type: "detach", pty: id });
    if (!document.hidden) this.attach(id, entry);
  }

  private applySizeSoon(): void {
    clearTimeout(this.settle);
    this.settle = setTimeout(() => this.applySize(), SETTLE_MS);
  }

  /** applySize tells the server when the size that would fill the page's area has changed. */
  applySize(): void {
    const entry = this.entry(this.shownId);
    const wanted = entry?.screen.wantedSize() ?? null;
    if (this.shownId === null || !entry || wanted === null || same(wanted, entry.wanted)) return;
    entry.wanted = wanted;
    if (!hasEnded(this.deps.stateOf(this.shownId))) this.deps.send({ type: "resize", pty: this.shownId, ...wanted });
    this.deps.changed();
  }

  /** repeatSize asks for the wanted size again when the user touches a terminal that has another viewer's size. */
  private repeatSize(): void {
    const entry = this.entry(this.shownId);
    if (this.shownId === null || !entry?.wanted || hasEnded(this.deps.stateOf(this.shownId)) || !this.letterboxed())
      return;
    this.deps.send({ type: "resize", pty: this.shownId, ...entry.wanted });
  }

  private trim(): void {
    for (const id of this.opened.keys()) {
      if (this.opened.size <= MAX_OPEN) return;
      if (id !== this.shownId) this.drop(id);
    }
  }

  private drop(id: string): void {
    this.opened.get(id)?.screen.dispose();
    this.opened.delete(id);
    this.deps.send({ type: "detach", pty: id });
  }
}
