import { batch, signal } from "@preact/signals";
import { Backoff } from "./backoff";
import type { EventStream } from "./eventstream";
import { parseThreadEvent, type ThreadEvent } from "./wire";

/** Between two readings of the same, in milliseconds: a thread may change hundreds of times a second. */
export const READ_GAP_MS = 400;
/** Longest wait of one timer, in milliseconds: far below what a timer can hold. */
const MAX_TIMER_MS = 86_400_000;

/** Subject is something that one request reads from the server. */
export interface Subject {
  /** wanted says whether the page shows it. A subject that is not shown stays due. */
  wanted(): boolean;
  /**
   * read asks the server and never throws. What it returns puts the answer in its place, unless the feed has left the
   * thread meanwhile, and says whether there was one: a refusal is an answer, silence is none.
   */
  read(thread: string): Promise<() => boolean>;
}

/** Listener keeps a part of what the page knows about the thread. */
export interface Listener {
  /** The types of events that it takes. */
  readonly events: readonly string[];
  readonly subjects: readonly Subject[];
  take(event: ThreadEvent): void;
  /** lost is called when the stream broke; browsers do not say why. */
  lost?(): void;
  /** reset forgets the thread. */
  reset(): void;
}

export interface FeedDeps {
  /** events opens the stream of a thread's events behind `since`; null is from now on. */
  events(thread: string, since: number | null): EventStream;
  random(): number;
}

/**
 * Feed follows the events of one thread at a time, and only while the page is visible: browsers give a server six
 * connections for all tabs. It never asks at intervals: everything is due when the stream opens, and again when a
 * listener says so. Subjects are read one at a time.
 */
export class Feed {
  /** The server does not answer; the page shows an old state. */
  readonly stale = signal(false);
  private readonly listeners: Listener[] = [];
  private thread: string | null = null;
  private visible = false;
  private refused = false;
  private source: EventStream | null = null;
  private since: number | null = null;
  /** When a subject is to be read, and before when it must not be, in milliseconds since the epoch. */
  private readonly due = new Map<Subject, number>();
  private readonly earliest = new Map<Subject, number>();
  private reading = false;
  /** Grows with every thread: an answer to an older question is dropped. */
  private turn = 0;
  private readonly streamBackoff: Backoff;
  private readonly readBackoff: Backoff;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private readTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly deps: FeedDeps) {
    this.streamBackoff = new Backoff(deps.random);
    this.readBackoff = new Backoff(deps.random);
  }

  /** add is called before the first follow. */
  add(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** follow is about `thread`, null none. While the page is not visible the last state stays, and nothing is open. */
  follow(thread: string | null, visible: boolean): void {
    if (thread !== this.thread) {
      this.close();
      this.thread = thread;
      this.since = null;
      this.refused = false;
      this.reset();
    }
    if (visible && !this.visible) this.refused = false; // much may have changed meanwhile
    this.visible = visible;
    if (thread === null || !visible) this.close();
    else this.open();
  }

  /** retry is called when the server is back or the user has logged in. */
  retry(): void {
    this.refused = false;
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
    this.open();
  }

  /** refuse is called when the thread is not for us, or not there any more. */
  refuse(): void {
    this.close();
    this.refused = true;
    this.reset();
  }

  /** mark makes subjects due in `delay` milliseconds, unless they are sooner. */
  mark(subjects: readonly Subject[], delay = 0): void {
    if (this.thread === null || this.refused) return;
    const at = Date.now() + delay;
    for (const s of subjects) this.due.set(s, Math.min(at, this.due.get(s) ?? at));
    this.pump();
  }

  /** pump reads the wanted subjects that are due, or plans it. Call it when other subjects are wanted. */
  pump(): void {
    clearTimeout(this.readTimer);
    if (this.thread === null || !this.visible || this.reading) return;
    const at = (s: Subject): number => Math.max(this.due.get(s) ?? 0, this.earliest.get(s) ?? 0);
    const wanted = this.subjects().filter((s) => this.due.has(s) && s.wanted());
    const next = wanted.reduce<Subject | undefined>((first, s) => (first && at(first) <= at(s) ? first : s), undefined);
    if (next === undefined) return;
    const wait = at(next) - Date.now();
    if (wait <= 0) void this.read(next, this.thread);
    else this.readTimer = setTimeout(() => this.pump(), Math.min(wait, MAX_TIMER_MS));
  }

  private subjects(): Subject[] {
    return this.listeners.flatMap((l) => l.subjects);
  }

  private async read(subject: Subject, thread: string): Promise<void> {
    const { turn } = this;
    this.due.delete(subject);
    this.earliest.set(subject, Date.now() + READ_GAP_MS);
    this.reading = true;
    const put = await subject.read(thread);
    if (turn !== this.turn) return;
    this.reading = false;
    const answered = batch(put);
    if (turn !== this.turn) return; // refused
    if (answered) this.readBackoff.reset();
    else {
      this.due.set(subject, Date.now());
      this.earliest.set(subject, Date.now() + this.readBackoff.next());
    }
    this.stale.value = !answered;
    this.pump();
  }

  private reset(): void {
    this.turn++;
    this.reading = false;
    this.due.clear();
    this.earliest.clear();
    batch(() => {
      this.stale.value = false;
      for (const l of this.listeners) l.reset();
    });
  }

  private close(): void {
    clearTimeout(this.retryTimer);
    clearTimeout(this.readTimer);
    this.retryTimer = undefined;
    if (this.source === null) return;
    this.source.onopen = this.source.onerror = null;
    this.source.close();
    this.source = null;
  }

  private open(): void {
    if (this.thread === null || !this.visible || this.source || this.refused || this.retryTimer !== undefined) return;
    const source = this.deps.events(this.thread, this.since);
    this.source = source;
    source.onopen = () => this.opened();
    source.onerror = () => this.lose(source);
    const take = (e: Event): void => {
      if (this.source === source && e instanceof MessageEvent && typeof e.data === "string") this.take(e.data);
    };
    for (const type of this.listeners.flatMap((l) => l.events)) source.addEventListener(type, take);
  }

  /** opened makes everything due: what happened before the stream was there is in the answers. */
  private opened(): void {
    this.streamBackoff.reset();
    this.readBackoff.reset();
    this.earliest.clear();
    this.mark(this.subjects());
  }

  /** lose gives the stream up and plans the next one. */
  private lose(source: EventStream): void {
    if (this.source !== source) return;
    this.close();
    this.retryTimer = setTimeout(() => this.retry(), this.streamBackoff.next());
    for (const l of this.listeners) l.lost?.();
  }

  private take(data: string): void {
    const event = parseThreadEvent(data);
    if (event === null) return;
    if (event.seq > 0) this.since = event.seq;
    for (const l of this.listeners) if (l.events.includes(event.type)) l.take(event);
  }
}
