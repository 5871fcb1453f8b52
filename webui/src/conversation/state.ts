import { type Signal, signal } from "@preact/signals";
import type { Feed, Listener, Subject } from "../api/feed";
import { type ConversationRequests, type Decisions, Refusal } from "../api/requests";
import { type Approval, byAge, type Ledger, type ThreadEvent, type Timeline, time, type Usage } from "../api/wire";
import { type Held, newestRange, nothing, olderRange, withNewest, withOlder } from "./messages";

/** How long after its announced end an approval is read again, in milliseconds: clocks differ. */
export const AFTER_EXPIRY_MS = 2_000;
/** Wait for that reading when by our clock it is over already, in milliseconds. */
const LATE_EXPIRY_MS = 60_000;
/** HTTP status of a server that keeps no conversations. */
const NOT_KEPT = 503;

/** Section is the part of the conversation that its tab shows. */
export type Section = "messages" | "timeline" | "ledger" | "usage" | "approvals";
/** Name is a subject of the feed. Approvals that wait are always read. */
type Name = Section | "older" | "pending";

const CONVERSATION: readonly Name[] = ["messages", "timeline", "ledger", "usage"];
const APPROVALS: readonly Name[] = ["pending", "approvals"];

const CHANGED: Readonly<Record<string, readonly Name[]>> = {
  "record.created": CONVERSATION,
  "record.imported": CONVERSATION,
  "record.cleared": CONVERSATION,
  "record.message": ["messages"],
  "record.compacted": ["messages"],
  "record.timeline": ["timeline"],
  "record.trace": ["timeline"],
  "record.state": ["timeline"], // it has the last decision, which the trace depends on
  "record.ledger": ["ledger"],
  "record.turn": ["usage"],
  "permission.changed": APPROVALS,
  "permission.decided": APPROVALS,
  "approval.decided": APPROVALS,
};
/** After these the conversation has other messages. */
const REPLACED = new Set(["record.created", "record.imported", "record.cleared", "record.compacted"]);

/** answered takes what the server says, null for a refusal that lasts. */
const answered =
  <T>(got: T | Refusal, take: (got: T | null) => void): (() => boolean) =>
  () => {
    if (got instanceof Refusal && !got.lasting() && got.status !== NOT_KEPT) return false;
    take(got instanceof Refusal ? null : got);
    return true;
  };

/** ConversationState has the conversation and the approvals of the thread that a feed follows. */
export class ConversationState implements Listener {
  readonly events = Object.keys(CHANGED);
  /** Null: not read yet. */
  readonly messages = signal<Held | null>(null);
  readonly timeline = signal<Timeline | null>(null);
  readonly ledger = signal<Ledger | null>(null);
  readonly usage = signal<Usage | null>(null);
  readonly decisions = signal<Decisions | null>(null);
  /** The calls that wait for a person, the oldest first. */
  readonly pending = signal<readonly Approval[]>([]);
  /** The thread has no conversation. */
  readonly none = signal(false);
  readonly loadingOlder = signal(false);

  readonly subjects: readonly Subject[];
  private readonly named: Readonly<Record<Name, Subject>>;
  private section: Section | null = null;
  /** The next question is for all newest messages: the held ones are of a conversation that was replaced. */
  private replaced = false;
  /** Grows with every conversation: an answer about the one before is dropped, as its subject is due again. */
  private epoch = 0;

  constructor(
    private readonly feed: Feed,
    private readonly request: ConversationRequests,
  ) {
    const open = (section: Section, read: Subject["read"]): Subject => ({
      wanted: () => this.section === section,
      read,
    });
    this.named = {
      pending: { wanted: () => true, read: (thread) => this.readPending(thread) },
      messages: open("messages", (thread) => this.readNewest(thread)),
      older: open("messages", (thread) => this.readOlder(thread)),
      timeline: open("timeline", (thread) => this.readInto(this.timeline, request.timeline(thread))),
      ledger: open("ledger", (thread) => this.readInto(this.ledger, request.ledger(thread))),
      usage: open("usage", (thread) => this.readInto(this.usage, request.usage(thread))),
      approvals: open("approvals", (thread) => this.readDecisions(thread)),
    };
    this.subjects = Object.values(this.named);
    feed.add(this);
  }

  /** setSection says which section is open, null none. */
  setSection(section: Section | null): void {
    this.section = section;
    this.feed.pump();
  }

  take(event: ThreadEvent): void {
    if (event.type === "permission.decided" && !event.data.approval_id) return; // no person is asked
    if (REPLACED.has(event.type)) {
      this.epoch++;
      this.replaced = true;
      this.loadingOlder.value = false;
    }
    this.mark(CHANGED[event.type] ?? []);
  }

  /** older reads the messages before the held ones. */
  older(): void {
    this.loadingOlder.value = true;
    this.mark(["older"]);
  }

  /** toNewest goes back to the newest messages after the older ones took their place. */
  toNewest(): void {
    this.replaced = true;
    this.mark(["messages"]);
  }

  /** decided reads the approvals after something that the user did, whose event may be late. */
  decided(): void {
    this.mark(APPROVALS);
  }

  reset(): void {
    this.replaced = false;
    for (const s of [this.messages, this.timeline, this.ledger, this.usage, this.decisions]) s.value = null;
    this.pending.value = [];
    this.none.value = this.loadingOlder.value = false;
  }

  private mark(names: readonly Name[], delay = 0): void {
    this.feed.mark(
      names.map((n) => this.named[n]),
      delay,
    );
  }

  /** put takes an answer about the conversation. */
  private put<T>(got: T | Refusal, epoch: number, take: (got: T) => void): () => boolean {
    const answer = answered(got, (given) => {
      this.none.value = given === null;
      if (given === null) this.loadingOlder.value = false;
      else take(given);
    });
    return () => epoch !== this.epoch || answer();
  }

  private async readInto<T>(into: Signal<T | null>, answer: Promise<T | Refusal>): Promise<() => boolean> {
    const { epoch } = this;
    return this.put(await answer, epoch, (got) => (into.value = got));
  }

  private async readNewest(thread: string): Promise<() => boolean> {
    const { replaced, epoch } = this;
    const held = replaced ? nothing : (this.messages.value ?? nothing);
    if (!held.tail) return () => true;
    this.replaced = false;
    const got = await this.request.messages(thread, newestRange(held));
    if (got instanceof Refusal && replaced) this.replaced = true;
    return this.put(got, epoch, (list) => (this.messages.value = withNewest(held, list)));
  }

  private async readOlder(thread: string): Promise<() => boolean> {
    if (!this.loadingOlder.value) return () => true; // no longer wanted, or the conversation was replaced
    const { epoch } = this;
    const held = this.messages.value ?? nothing;
    const range = olderRange(held);
    const got = range === null ? [] : await this.request.messages(thread, range);
    return this.put(got, epoch, (list) => {
      this.messages.value = withOlder(held, list);
      this.loadingOlder.value = false;
    });
  }

  private async readPending(thread: string): Promise<() => boolean> {
    return answered(await this.request.pending(thread), (got) => {
      this.pending.value = (got ?? []).toSorted(byAge);
      this.planExpiry();
    });
  }

  private async readDecisions(thread: string): Promise<() => boolean> {
    return answered(await this.request.decisions(thread), (got) => {
      if (got) this.decisions.value = got;
    });
  }

  /** planExpiry reads again when the first approval should have expired: there is no event. */
  private planExpiry(): void {
    const ends = this.pending.value.map((a) => time(a.expires_at)).filter((at) => at > 0);
    if (ends.length === 0) return;
    const left = Math.min(...ends) - Date.now();
    this.mark(APPROVALS, left > 0 ? left + AFTER_EXPIRY_MS : LATE_EXPIRY_MS);
  }
}
