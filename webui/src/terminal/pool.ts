import { hasEnded } from "../list/model";
import { Position } from "./position";
import type { ClientMessage, ServerEvent, Size } from "../api/wire";
import { Screen, type ScreenEvents } from "./screen";

/** Terminals kept attached at once, the shown one included: switching back is instant, and the server's work bounded. */
const MAX_OPEN = 6;
/** The window must keep its size this long, in milliseconds, before the server is asked to resize. */
const SETTLE_MS = 100;

interface Opened {
  screen: Screen;
  position: Position;
  /** Has shown a screen, of this attachment or an older one. */
  drawn: boolean;
  /** Fell too far behind and was detached; attached again when the page is looked at. */
  behind: boolean;
  /** The exit of this attachment came: nothing follows, unless the terminal is restarted. */
  ended: boolean;
  wish: Size | null;
}

export interface PoolDeps {
  send(message: ClientMessage): boolean;
  eventsFor(id: string): ScreenEvents;
  /** The state the server lists for a terminal. */
  stateOf(id: string): string;
  /** Called when the shown terminal's size, wish or first screen changed. */
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
    new ResizeObserver(() => this.refitSoon()).observe(area);
    area.addEventListener("pointerdown", () => this.insist());
  }

  /** activate shows terminal `id`, attaching it when this page did not have it; null shows none. */
  activate(id: string | null): void {
    if (this.shownId !== null && this.shownId !== id) this.putAway(this.shownId);
    this.shownId = id;
    if (id !== null && this.area !== null) this.bring(id, this.area);
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

  /** letterboxed says whether the shown terminal has another size than this page would like. */
  letterboxed(): boolean {
    const entry = this.entry(this.shownId);
    return entry !== undefined && entry.position.fresh() && entry.wish !== null && !same(entry.wish, entry.screen.size());
  }

  /** wish is the size a new terminal should have to fill the area, if any terminal is shown to measure by. */
  wish(): Size | null {
    return this.entry(this.shownId)?.wish ?? null;
  }

  /** reattach asks for every opened terminal again, on a new connection. Old screens stay, and go on if the server can. */
  reattach(): void {
    for (const [id, entry] of this.opened) this.attach(id, entry);
  }

  /** catchUp attaches the terminals again that fell behind while the page was hidden. */
  catchUp(): void {
    for (const [id, entry] of this.opened) if (entry.behind) this.attach(id, entry);
  }

  /** retain drops the screens of terminals the server no longer lists, except the one that is looked at. */
  retain(ids: ReadonlySet<string>): void {
    for (const id of [...this.opened.keys()]) if (!ids.has(id) && id !== this.shownId) this.drop(id);
  }

  /** restate tells the screens which terminals have lost their process, or got one again: those are followed again. */
  restate(): void {
    for (const [id, entry] of this.opened) {
      const state = this.deps.stateOf(id);
      if (!entry.screen.setState(state)) continue;
      if (!hasEnded(state) && entry.ended) this.attach(id, entry);
      this.refitSoon();
    }
  }

  /** handle applies a terminal's event to its screen. */
  handle(event: ServerEvent): void {
    if (!("pty" in event) || event.pty === null) return;
    const entry = this.opened.get(event.pty);
    if (entry === undefined || entry.behind) return;
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
    else if (event.event === "exit") entry.ended = true;
    if (event.event === "snapshot" || event.event === "resume") {
      entry.drawn = true;
      this.deps.changed();
    }
  }

  private entry(id: string | null): Opened | undefined {
    return id === null ? undefined : this.opened.get(id);
  }

  private bring(id: string, area: HTMLElement): void {
    const known = this.opened.get(id);
    const entry = known ?? this.create(id, area);
    // Deleting and setting again moves the entry to the end: the map's order is the order of use.
    this.opened.delete(id);
    this.opened.set(id, entry);
    entry.screen.show();
    if (known) {
      this.deps.send({ type: "show", pty: id });
      this.refit();
    } else {
      entry.wish = entry.screen.wish();
      this.attach(id, entry);
      this.trim();
    }
  }

  /** putAway keeps a terminal that nobody looks at any more: the server does not count this page among its viewers. */
  private putAway(id: string): void {
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
    return { screen, position: new Position(), drawn: false, behind: false, ended: false, wish: null };
  }

  private attach(id: string, entry: Opened): void {
    entry.behind = false;
    entry.ended = false;
    this.deps.send({ type: "attach", pty: id, ...entry.position.attach(), ...entry.wish, ...(id === this.shownId ? {} : { hidden: true }) });
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

  private refitSoon(): void {
    clearTimeout(this.settle);
    this.settle = setTimeout(() => this.refit(), SETTLE_MS);
  }

  /** refit tells the server when the size that would fill the page's area has changed. */
  refit(): void {
    const entry = this.entry(this.shownId);
    const wish = entry?.screen.wish() ?? null;
    if (this.shownId === null || !entry || wish === null || same(wish, entry.wish)) return;
    entry.wish = wish;
    if (!hasEnded(this.deps.stateOf(this.shownId))) this.deps.send({ type: "resize", pty: this.shownId, ...wish });
    this.deps.changed();
  }

  /** insist repeats the wish when the user touches a terminal that has another viewer's size. */
  private insist(): void {
    const entry = this.entry(this.shownId);
    if (this.shownId === null || !entry?.wish || hasEnded(this.deps.stateOf(this.shownId)) || !this.letterboxed()) return;
    this.deps.send({ type: "resize", pty: this.shownId, ...entry.wish });
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
