import { batch, signal } from "@preact/signals";
import { retryDelay } from "../api/backoff";
import { newestPart, nothing, olderPart, withNewest, withOlder, type Held, type Part } from "./messages";
import type { Approval, Ledger, Message, Permissions, Timeline, Usage } from "./documents";
import type { ThreadEvent } from "../thread/thread";
import type { Watcher } from "../api/feed";

/** Between two readings of the same, in milliseconds: a harness may write hundreds of times a second. */
export const READ_GAP_MS = 400;
/** How long after its announced end an approval is looked at, in milliseconds: clocks differ. */
export const AFTER_EXPIRY_MS = 2_000;
/** Shortest wait for that look when by our clock it is over already, and the longest of one timer, in milliseconds. */
const MIN_EXPIRY_MS = 60_000;
const MAX_EXPIRY_MS = 86_400_000;

/** Section is what the record's tab shows at a time. */
export type Section = "messages" | "timeline" | "ledger" | "usage" | "approvals";
/** Subject is what is read by one question. The approvals that wait are read for whoever has the page open. */
type Subject = Section | "older" | "pending";

/** What is not for us, not here or not kept: asking again does not help before something happens. */
const REFUSALS = new Set([401, 403, 404, 405, 501, 503]);

const OF_RECORDS: readonly Subject[] = ["messages", "timeline", "ledger", "usage"];
const OF_APPROVALS: readonly Subject[] = ["pending", "approvals"];

/** What has to be read again after an event. */
const CHANGED: Readonly<Record<string, readonly Subject[]>> = {
  "record.created": OF_RECORDS,
  "record.imported": OF_RECORDS,
  "record.cleared": OF_RECORDS,
  "record.message": ["messages"],
  "record.compacted": ["messages"],
  "record.timeline": ["timeline"],
  "record.trace": ["timeline"],
  "record.state": ["timeline"], // it has the last decision, which the trace hangs on
  "record.ledger": ["ledger"],
  "record.turn": ["usage"],
  "permission.changed": OF_APPROVALS,
  "permission.decided": OF_APPROVALS,
  "approval.decided": OF_APPROVALS,
};
/** After these the messages are not those that were there before. */
const ANEW = new Set(["record.created", "record.imported", "record.cleared", "record.compacted"]);

/** Refusal is the HTTP status that came instead of an answer; 0 when the server was not reached. */
export interface Refusal {
  status: number;
}

export interface Decisions {
  permissions: Permissions;
  /** The newest first. */
  approvals: readonly Approval[];
}

export interface RecordDeps {
  messages(thread: string, part: Part): Promise<readonly Message[] | Refusal>;
  timeline(thread: string): Promise<Timeline | Refusal>;
  ledger(thread: string): Promise<Ledger | Refusal>;
  usage(thread: string): Promise<Usage | Refusal>;
  decisions(thread: string): Promise<Decisions | Refusal>;
  pending(thread: string): Promise<readonly Approval[] | Refusal>;
  random(): number;
}

const refusal = (v: object): v is Refusal => "status" in v;

/**
 * RecordFeed follows the record and the approvals of one thread. It never asks at intervals: something is read when it is
 * looked at, and again after an event that changes it; one question at a time. What nobody looks at is only marked.
 */
export class RecordFeed implements Watcher {
  readonly types = Object.keys(CHANGED);
  /** Null is what was not read yet. */
  readonly messages = signal<Held | null>(null);
  readonly timeline = signal<Timeline | null>(null);
  readonly ledger = signal<Ledger | null>(null);
  readonly usage = signal<Usage | null>(null);
  readonly decisions = signal<Decisions | null>(null);
  /** The calls that wait for a person, the oldest first. */
  readonly pending = signal<readonly Approval[]>([]);
  /** The thread has no record. */
  readonly none = signal(false);
  /** The server does not answer; what is shown is how things were. */
  readonly stale = signal(false);
  readonly loadingOlder = signal(false);

  private thread: string | null = null;
  private live = false;
  private section: Section | null = null;
  private readonly due = new Set<Subject>();
  /** When a subject may be read again, in milliseconds since the epoch. */
  private readonly from = new Map<Subject, number>();
  private attempt = 0;
  private reading = false;
  private anew = false;
  /** Grow with every thread, and with every new record of it: an answer to an older question is dropped. */
  private turn = 0;
  private epoch = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private expiryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly deps: RecordDeps) {}

  /** follow is about thread `id`, null none. While the page is not visible the last state stays, and nothing is asked. */
  follow(id: string | null, visible: boolean): void {
    if (id !== this.thread) this.reset(id);
    if (!visible) this.live = false;
  }

  /** look says which section is open, null none. */
  look(section: Section | null): void {
    this.section = section;
    this.pump();
  }

  /** opened begins to read. What happened before the stream was there is in the answers. */
  opened(): void {
    this.live = true;
    this.attempt = 0;
    this.from.clear();
    this.mark([...OF_RECORDS, ...OF_APPROVALS]);
  }

  take(event: ThreadEvent): void {
    if (event.type === "permission.decided" && event.approval === "") return; // nobody is asked
    if (ANEW.has(event.type)) {
      this.epoch++;
      this.anew = true;
      this.due.delete("older");
      this.loadingOlder.value = false;
    }
    this.mark(CHANGED[event.type] ?? []);
  }

  refused(): void {
    this.reset(this.thread);
  }

  /** older reads the messages before the held ones. */
  older(): void {
    this.loadingOlder.value = true;
    this.mark(["older"]);
  }

  /** toNewest goes back to the newest messages after the older ones took their place. */
  toNewest(): void {
    this.anew = true;
    this.mark(["messages"]);
  }

  /** decided reads the approvals after something that the user did, whose event may be late. */
  decided(): void {
    this.mark(OF_APPROVALS);
  }

  private reset(id: string | null): void {
    this.turn++;
    clearTimeout(this.timer);
    clearTimeout(this.expiryTimer);
    this.timer = undefined;
    this.thread = id;
    this.live = this.reading = this.anew = false;
    this.due.clear();
    this.from.clear();
    batch(() => {
      for (const s of [this.messages, this.timeline, this.ledger, this.usage, this.decisions]) s.value = null;
      this.pending.value = [];
      this.none.value = this.stale.value = this.loadingOlder.value = false;
    });
  }

  private mark(subjects: readonly Subject[]): void {
    for (const s of subjects) this.due.add(s);
    this.pump();
  }

  private wanted(): Subject[] {
    const open: Subject[] = this.section === "messages" ? ["messages", "older"] : this.section === null ? [] : [this.section];
    return (["pending", ...open] as const).filter((s) => this.due.has(s));
  }

  /** pump reads what is due and looked at, or plans it for when it may be read again. */
  private pump(): void {
    if (!this.live || this.reading || this.thread === null) return;
    clearTimeout(this.timer);
    const wanted = this.wanted();
    if (wanted.length === 0) return;
    const now = Date.now();
    const ready = wanted.find((s) => (this.from.get(s) ?? 0) <= now);
    if (ready !== undefined) return void this.read(ready, this.thread);
    const next = Math.min(...wanted.map((s) => this.from.get(s) ?? 0));
    this.timer = setTimeout(() => this.pump(), next - now);
  }

  private async read(subject: Subject, thread: string): Promise<void> {
    const { turn, epoch } = this;
    this.due.delete(subject);
    this.reading = true;
    this.from.set(subject, Date.now() + (subject === "older" ? 0 : READ_GAP_MS));
    const took = await this.ask(subject, thread);
    if (turn !== this.turn) return;
    this.reading = false;
    if (epoch !== this.epoch) return this.pump(); // it is due again
    const status = batch(took);
    const lost = status !== null && !REFUSALS.has(status);
    if (lost) {
      this.due.add(subject);
      this.from.set(subject, Date.now() + retryDelay(this.attempt++, this.deps.random()));
    } else this.attempt = 0;
    this.stale.value = lost;
    this.pump();
  }

  /** ask asks for a subject. What it returns puts the answer in its place and says which status came instead of one. */
  private async ask(subject: Subject, thread: string): Promise<() => number | null> {
    switch (subject) {
      case "messages":
        return this.askNewest(thread);
      case "older":
        return this.askOlder(thread);
      case "timeline":
        return this.taken(await this.deps.timeline(thread), (t) => (this.timeline.value = t));
      case "ledger":
        return this.taken(await this.deps.ledger(thread), (l) => (this.ledger.value = l));
      case "usage":
        return this.taken(await this.deps.usage(thread), (u) => (this.usage.value = u));
      case "pending":
        return this.waiting(await this.deps.pending(thread));
      case "approvals": {
        const got = await this.deps.decisions(thread);
        return () => {
          if (refusal(got)) return got.status;
          this.decisions.value = got;
          return null;
        };
      }
    }
  }

  private async askNewest(thread: string): Promise<() => number | null> {
    const { anew } = this;
    const held = anew ? nothing : (this.messages.value ?? nothing);
    if (!held.tail) return () => null;
    this.anew = false;
    const got = await this.deps.messages(thread, newestPart(held));
    if (refusal(got) && anew) this.anew = true;
    return this.taken(got, (list) => (this.messages.value = withNewest(held, list)));
  }

  private async askOlder(thread: string): Promise<() => number | null> {
    const held = this.messages.value ?? nothing;
    const part = olderPart(held);
    const got = part === null ? [] : await this.deps.messages(thread, part);
    return this.taken(got, (list) => {
      this.messages.value = withOlder(held, list);
      this.loadingOlder.value = false;
    });
  }

  /** taken puts an answer about the record in its place. */
  private taken<T extends object>(got: T | Refusal, put: (got: T) => void): () => number | null {
    return () => {
      if (!refusal(got)) {
        this.none.value = false;
        put(got);
        return null;
      }
      if (REFUSALS.has(got.status)) {
        this.none.value = true;
        this.loadingOlder.value = false;
      }
      return got.status;
    };
  }

  private waiting(got: readonly Approval[] | Refusal): () => number | null {
    return () => {
      if (refusal(got) && !REFUSALS.has(got.status)) return got.status;
      this.pending.value = refusal(got) ? [] : got.toSorted((a, b) => a.createdAt - b.createdAt);
      this.planExpiry();
      return refusal(got) ? got.status : null;
    };
  }

  /** planExpiry looks again when the first approval should have expired: no event tells that. */
  private planExpiry(): void {
    clearTimeout(this.expiryTimer);
    const ends = this.pending.value.map((a) => a.expiresAt).filter((at) => at > 0);
    if (ends.length === 0) return;
    const left = Math.min(...ends) - Date.now();
    this.expiryTimer = setTimeout(() => this.mark(OF_APPROVALS), left > 0 ? Math.min(MAX_EXPIRY_MS, left + AFTER_EXPIRY_MS) : MIN_EXPIRY_MS);
  }
}
