import { signal } from "@preact/signals";
import type { Feed, Listener, Subject } from "../api/feed";
import { type Documents, Refusal } from "../api/requests";
import { type ThreadEvent, time } from "../api/wire";
import { isLive, reduceThread, unknownThread, withDocuments } from "./thread";

/** Activity without an event (typing, output) shows after this time, in milliseconds. */
export const USED_MS = 3_000;
/** How long after its announced end a session is read again, in milliseconds: the server checks once a second. */
export const AFTER_END_MS = 1_500;
/** Shortest wait for that reading, in milliseconds. */
const MIN_END_MS = 5_000;

/** After these the documents are read again. */
const CHANGES = [
  "thread.policy",
  ...["created", "recreated", "activated", "rolled_back", "deleted"].map((what) => `terminal.${what}`),
  ...["created", "expiring", "active", "paused", "resumed", "closed", "failed"].map((what) => `session.${what}`),
  ...["created", "recreated", "running", "paused", "dead", "unknown", "error"].map((what) => `lease.${what}`),
];
/** While the details are closed, this event alone is enough. */
const DETAIL = "terminal.state";
/** These only move the end of the session. */
const USES = ["command.started", "command.finished"];
const DELETED = "thread.deleted";

/** ThreadState has the documents of the thread that a feed follows. */
export class ThreadState implements Listener {
  readonly thread = signal(unknownThread);
  readonly events = [...CHANGES, DETAIL, ...USES, DELETED];
  readonly subjects: readonly Subject[] = [{ wanted: () => true, read: (thread) => this.read(thread) }];
  private detailed = false;

  constructor(
    private readonly feed: Feed,
    private readonly request: (thread: string) => Promise<Documents | Refusal>,
  ) {
    feed.add(this);
  }

  /** setDetailed says whether the page shows more than the badges. */
  setDetailed(on: boolean): void {
    if (on && !this.detailed) this.refresh();
    this.detailed = on;
  }

  /** used notes activity that has no event. It may be called for every piece of output. */
  used(): void {
    if (this.detailed) this.feed.mark(this.subjects, USED_MS);
  }

  /** dismiss takes the notice away; another one may come. */
  dismiss(): void {
    const { notice } = this.thread.value;
    if (notice !== null) this.thread.value = { ...this.thread.value, notice: { ...notice, dismissed: true } };
  }

  /** refresh reads the documents after something that the user did, whose event may be late. */
  refresh(): void {
    this.feed.mark(this.subjects);
  }

  take(event: ThreadEvent): void {
    this.thread.value = reduceThread(this.thread.value, event);
    if (event.type === DELETED) this.feed.refuse();
    else if (USES.includes(event.type)) this.used();
    else if (this.detailed || event.type !== DETAIL || this.isNew(event.data.terminal_id ?? "")) this.refresh();
  }

  /** lost asks the documents: they are refused when the stream is. */
  lost(): void {
    this.refresh();
  }

  reset(): void {
    this.thread.value = unknownThread;
  }

  private isNew(terminal: string): boolean {
    return terminal !== "" && !this.thread.value.terminals.some((t) => t.terminal_id === terminal);
  }

  private async read(thread: string): Promise<() => boolean> {
    const got = await this.request(thread);
    return () => {
      if (!(got instanceof Refusal)) {
        this.thread.value = withDocuments(this.thread.value, got);
        this.planEnd(got);
      } else if (got.lasting()) this.feed.refuse();
      else return false;
      return true;
    };
  }

  /** planEnd reads again when the session should have ended: not everything that keeps it alive has an event. */
  private planEnd({ session, clock }: Documents): void {
    if (session === null || !isLive(session.status) || time(session.expires_at) === 0) return;
    const left = time(session.expires_at) - (Date.now() + clock) + AFTER_END_MS;
    this.feed.mark(this.subjects, Math.max(MIN_END_MS, left));
  }
}
