import { signal } from "@preact/signals";
import { retryDelay } from "./backoff";
import { isLive, parseThreadEvent, reduceThread, unknownThread, withDocuments, type Documents, type ThreadEvent } from "../thread/thread";

/** Between two readings of the documents, in milliseconds: a thread may change many times a second. */
export const READ_GAP_MS = 500;
/** Activity that no event tells of (typing, output) shows after this time, in milliseconds. */
export const USED_MS = 3_000;
/** How long after its announced end a session is looked at, in milliseconds: the server looks once a second. */
export const AFTER_END_MS = 1_500;
/** Shortest and longest wait for that look, in milliseconds. The longest is far below what a timer can hold. */
const MIN_END_MS = 5_000;
const MAX_END_MS = 3_600_000;

/** After these the documents are read again. */
const CHANGES = [
  "thread.policy",
  "terminal.created",
  "terminal.recreated",
  "terminal.activated",
  "terminal.rolled_back",
  "terminal.deleted",
  "session.created",
  "session.expiring",
  "session.active",
  "session.paused",
  "session.resumed",
  "session.closed",
  "session.failed",
  "lease.created",
  "lease.recreated",
  "lease.running",
  "lease.paused",
  "lease.dead",
  "lease.unknown",
  "lease.error",
];
/** These are enough by themselves while nobody looks at the details. */
const DETAILS = ["terminal.state"];
/** These only move the end of the session. */
const USES = ["command.started", "command.finished"];
const DELETED = "thread.deleted";

/** Statuses of the documents that mean "not for you" or "not here": asking again does not help. */
const REFUSALS = new Set([401, 403, 404, 405, 501]);

/** Reading is the documents, or the HTTP status that came instead; 0 when the server was not reached. */
export type Reading = Documents | { status: number };

/** Watcher is told more of the same stream: a browser gives a page only a few connections. */
export interface Watcher {
  /** The types of events that it wants, none of those that the feed has itself. */
  readonly types: readonly string[];
  /** opened is called when the stream is there, first or again. */
  opened(): void;
  take(event: ThreadEvent): void;
  /** refused is called when the thread is not for us, or not there any more. */
  refused(): void;
}

export interface FeedDeps {
  watcher?: Watcher;
  /** events opens the stream of a thread's events behind `since`; null is from now on. */
  events(thread: string, since: number | null): EventSource;
  read(thread: string): Promise<Reading>;
  random(): number;
}

/**
 * ThreadFeed follows one thread at a time, and only while the page is looked at: browsers give a server six connections
 * for all tabs. It never asks at intervals: the documents are read when the stream opens, after events that change
 * them, and when a session should have ended.
 */
export class ThreadFeed {
  readonly thread = signal(unknownThread);
  private id: string | null = null;
  private visible = false;
  private source: EventSource | null = null;
  private since: number | null = null;
  private attempt = 0;
  private refused = false;
  private detailed = false;
  /** Grows with every thread and pause: an answer to an older question is dropped. */
  private turn = 0;
  private reading = false;
  private again = false;
  private readAt = Number.NEGATIVE_INFINITY;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private readTimer: ReturnType<typeof setTimeout> | undefined;
  private readDue = Number.POSITIVE_INFINITY;
  private endTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly deps: FeedDeps) {}

  /** follow shows thread `id`, null none. While the page is not visible the last state stays, and nothing is open. */
  follow(id: string | null, visible: boolean): void {
    if (id !== this.id) {
      this.stop();
      this.id = id;
      this.since = null;
      this.refused = false;
      this.thread.value = unknownThread;
    }
    if (visible && !this.visible) this.refused = false; // much may have changed meanwhile
    this.visible = visible;
    if (id === null || !visible) this.stop();
    else this.open();
  }

  /** retry is called when the server is back or the user has logged in. */
  retry(): void {
    this.refused = false;
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
    this.open();
  }

  /** detail says whether somebody looks at more than the badges. */
  detail(on: boolean): void {
    if (on === this.detailed) return;
    this.detailed = on;
    if (on) this.readSoon(0);
  }

  /** used is told of activity that is no event. It may be called for every piece of output. */
  used(): void {
    if (this.detailed && this.readDue === Number.POSITIVE_INFINITY) this.readSoon(USED_MS);
  }

  /** dismiss takes the notice away; another one may come. */
  dismiss(): void {
    const { notice } = this.thread.value;
    if (notice !== null) this.thread.value = { ...this.thread.value, notice: { ...notice, dismissed: true } };
  }

  /** refresh reads the documents after something that the user did, whose event may be late. */
  refresh(): void {
    this.readSoon(0);
  }

  private stop(): void {
    this.turn++;
    this.close();
    clearTimeout(this.retryTimer);
    clearTimeout(this.readTimer);
    clearTimeout(this.endTimer);
    this.retryTimer = undefined;
    this.readDue = Number.POSITIVE_INFINITY;
    this.reading = this.again = false;
    this.readAt = Number.NEGATIVE_INFINITY;
  }

  private close(): void {
    if (this.source === null) return;
    this.source.onopen = this.source.onerror = null;
    this.source.close();
    this.source = null;
  }

  private open(): void {
    if (this.id === null || !this.visible || this.source !== null || this.refused || this.retryTimer !== undefined) return;
    const source = this.deps.events(this.id, this.since);
    this.source = source;
    source.onopen = () => {
      this.attempt = 0;
      this.readSoon(0);
      this.deps.watcher?.opened();
    };
    source.onerror = () => this.lose(source);
    const take = (e: Event): void => {
      if (this.source === source && e instanceof MessageEvent && typeof e.data === "string") this.take(e.data);
    };
    for (const type of [...CHANGES, ...DETAILS, ...USES, DELETED, ...(this.deps.watcher?.types ?? [])]) source.addEventListener(type, take);
  }

  /**
   * lose gives the stream up and plans the next one: a browser retries by itself only after some errors, and slowly. Why
   * it failed a page is not told, so the documents are asked: they are refused when the stream is.
   */
  private lose(source: EventSource): void {
    if (this.source !== source) return;
    this.close();
    this.retryTimer = setTimeout(
      () => {
        this.retryTimer = undefined;
        this.open();
      },
      retryDelay(this.attempt++, this.deps.random()),
    );
    this.readSoon(0);
  }

  private take(data: string): void {
    const event = parseThreadEvent(data);
    if (event === null) return;
    if (event.seq > 0) this.since = event.seq;
    if (this.deps.watcher?.types.includes(event.type)) return this.deps.watcher.take(event);
    this.thread.value = reduceThread(this.thread.value, event);
    if (event.type === DELETED) this.refuse();
    else this.follows(event);
  }

  private follows(event: ThreadEvent): void {
    if (USES.includes(event.type)) this.used();
    else if (this.detailed || !DETAILS.includes(event.type) || this.isNew(event)) this.readSoon(0);
  }

  private isNew(event: ThreadEvent): boolean {
    return event.terminal !== "" && !this.thread.value.terminals.some((t) => t.id === event.terminal);
  }

  private refuse(): void {
    this.stop();
    this.refused = true;
    this.thread.value = unknownThread;
    this.deps.watcher?.refused();
  }

  /** readSoon reads the documents in `delay` milliseconds or, if that is too soon after the last time, when it is not. */
  private readSoon(delay: number): void {
    if (this.id === null || !this.visible || this.refused) return;
    if (this.reading) {
      this.again = true;
      return;
    }
    const due = Math.max(Date.now() + delay, this.readAt + READ_GAP_MS);
    if (due >= this.readDue) return;
    clearTimeout(this.readTimer);
    this.readDue = due;
    this.readTimer = setTimeout(() => void this.read(), Math.max(0, due - Date.now()));
  }

  private async read(): Promise<void> {
    const { id, turn } = this;
    if (id === null) return;
    this.readDue = Number.POSITIVE_INFINITY;
    this.readAt = Date.now();
    this.reading = true;
    const got = await this.deps.read(id);
    if (turn !== this.turn) return;
    this.reading = false;
    if ("status" in got) {
      if (REFUSALS.has(got.status)) this.refuse();
      return;
    }
    this.thread.value = withDocuments(this.thread.value, got);
    this.planEnd(got);
    if (this.again) this.readSoon(0);
    this.again = false;
  }

  /** planEnd looks again when the session should have ended: what keeps it alive is not always told. */
  private planEnd({ session, clock }: Documents): void {
    clearTimeout(this.endTimer);
    if (session === null || !isLive(session.status) || session.expiresAt === 0) return;
    const left = session.expiresAt - (Date.now() + clock) + AFTER_END_MS;
    this.endTimer = setTimeout(() => this.readSoon(0), Math.min(MAX_END_MS, Math.max(MIN_END_MS, left)));
  }
}
