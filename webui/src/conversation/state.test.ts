import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeServer, pass } from "../../testing/fakestream";
import { MAX_DELAY_MS } from "../api/backoff";
import { READ_GAP_MS } from "../api/feed";
import { guard } from "../api/guard";
import { Refusal } from "../api/requests";
import { parseApprovals, parseTimeline } from "../api/wire";
import * as wire from "../api/wire.gen";
import { type Message, parseMessages, type Range } from "./messages";
import { AFTER_EXPIRY_MS, ConversationState } from "./state";

class World extends FakeServer {
  reads: string[] = [];
  /** How many messages there are. */
  messages = 3;
  archived = 0;
  status = 0;
  pendingUntil = "";
  hold: Promise<void> = Promise.resolve();
  busy = 0;
  readonly state = new ConversationState(this.feed, {
    messages: (thread, part) => this.answer(`messages ${part.after}`, thread, () => this.part(part)),
    timeline: (thread) => this.answer("timeline", thread, () => parseTimeline(null, null)),
    ledger: (thread) => this.answer("ledger", thread, () => guard(wire.Ledger, null)),
    usage: (thread) => this.answer("usage", thread, () => guard(wire.Usage, null)),
    decisions: (thread) =>
      this.answer("decisions", thread, () => ({ permissions: guard(wire.Permissions, null), approvals: [] })),
    pending: (thread) =>
      this.answer("pending", thread, () =>
        parseApprovals({
          approvals:
            this.pendingUntil === ""
              ? []
              : ["b", "a"].map((id) => ({
                  id,
                  status: "pending",
                  created_at: `2026-01-0${id === "a" ? 1 : 2}T00:00:00Z`,
                  expires_at: this.pendingUntil,
                })),
        }),
      ),
  });
  private async answer<T>(what: string, _thread: string, give: () => T): Promise<T | Refusal> {
    this.reads.push(what);
    expect(++this.busy).toBe(1);
    await this.hold;
    this.busy--;
    return this.status > 0 && what !== "pending" ? new Refusal(this.status) : give();
  }
  private part(p: Range): Message[] {
    const from = Math.max(p.after, p.archived ? 0 : this.archived);
    const all = Array.from({ length: this.messages }, (_, i) => ({ seq: i + 1, content: "x" })).filter(
      (m) => m.seq > from,
    );
    return parseMessages({ messages: p.newest ? all.slice(-p.limit) : all.slice(0, p.limit) });
  }
  tell(type: string, data: object = {}): void {
    this.stream.send(1, type, data);
  }
  seqs(): number[] | undefined {
    return this.state.messages.value?.list.map((m) => m.seq);
  }
  /** news are the reads since the last time. */
  news(): string[] {
    return this.reads.splice(0);
  }
}

let world: World;

beforeEach(async () => {
  vi.useFakeTimers();
  world = new World();
  world.feed.follow("main", true);
  world.stream.onopen?.();
  await pass(0);
});
afterEach(() => vi.useRealTimers());

describe("ConversationState", () => {
  it("reads only the approvals that wait while nobody looks, and nothing at intervals", async () => {
    expect(world.news()).toEqual(["pending"]);
    for (const type of ["record.message", "record.timeline", "record.turn", "record.ledger"]) world.tell(type);
    await pass(3_600_000);
    expect(world.news()).toEqual([]);
  });

  it("reads what is opened, once", async () => {
    world.state.setSection("messages");
    await pass(READ_GAP_MS);
    world.state.setSection("usage");
    await pass(READ_GAP_MS);
    world.state.setSection("messages");
    await pass(READ_GAP_MS);
    expect(world.news()).toEqual(["pending", "messages 0", "usage"]);
    expect([world.seqs(), world.state.usage.value?.turns]).toEqual([[1, 2, 3], 0]);
  });

  it("adds new messages, many with few questions and one at a time", async () => {
    world.state.setSection("messages");
    await pass(READ_GAP_MS);
    world.news();
    for (; world.messages < 40; world.messages++) {
      world.tell("record.message");
      await pass(READ_GAP_MS / 10);
    }
    await pass(READ_GAP_MS);
    expect(world.seqs()).toHaveLength(40);
    expect(world.news().length).toBeLessThan(8);
  });

  it("reads again what changes during a reading", async () => {
    let go = (): void => undefined;
    world.hold = new Promise((resolve) => (go = resolve));
    world.state.setSection("messages");
    await pass(0);
    world.messages = 4;
    for (let i = 0; i < 9; i++) world.tell("record.message");
    await pass(10 * READ_GAP_MS);
    expect(world.news()).toEqual(["pending", "messages 0"]);
    world.hold = Promise.resolve();
    go();
    await pass(READ_GAP_MS);
    expect([world.news(), world.seqs()]).toEqual([["messages 4"], [1, 2, 3, 4]]);
  });

  it("begins anew with a new record, and drops an answer about the one before", async () => {
    world.state.setSection("messages");
    await pass(READ_GAP_MS);
    world.messages = 90;
    let go = (): void => undefined;
    world.hold = new Promise((resolve) => (go = resolve));
    world.tell("record.message");
    await pass(READ_GAP_MS);
    world.tell("record.cleared");
    world.messages = 1;
    world.hold = Promise.resolve();
    go();
    await pass(READ_GAP_MS);
    expect(world.seqs()).toEqual([1]);
  });

  it("reads older ones on demand, then archived ones", async () => {
    world.messages = 120;
    world.archived = 60;
    world.state.setSection("messages");
    await pass(READ_GAP_MS);
    expect(world.seqs()?.[0]).toBe(71);
    world.state.older();
    expect(world.state.loadingOlder.value).toBe(true);
    await pass(0);
    expect([world.seqs()?.[0], world.state.loadingOlder.value]).toEqual([61, false]);
  });

  it("says that there is no record, until there is one", async () => {
    world.status = 404;
    world.state.setSection("messages");
    await pass(100 * MAX_DELAY_MS);
    expect([world.state.none.value, world.news()]).toEqual([true, ["pending", "messages 0"]]);
    world.status = 0;
    world.tell("record.created");
    await pass(READ_GAP_MS);
    expect([world.state.none.value, world.seqs()]).toEqual([false, [1, 2, 3]]);
  });

  it("tries again, ever more slowly, when the server does not answer", async () => {
    world.status = 500;
    world.state.setSection("ledger");
    await pass(2 * MAX_DELAY_MS);
    expect(world.feed.stale.value).toBe(true);
    expect(world.news().length).toBeLessThan(10);
    world.status = 0;
    await pass(MAX_DELAY_MS);
    expect([world.feed.stale.value, world.state.ledger.value]).not.toContain(null);
    expect(world.feed.stale.value).toBe(false);
  });

  it("follows approvals, the oldest first, and looks when one has expired", async () => {
    world.news();
    world.tell("permission.decided", { to: "allow" });
    await pass(READ_GAP_MS);
    expect(world.news()).toEqual([]);
    world.pendingUntil = new Date(Date.now() + 30_000).toISOString();
    world.tell("permission.decided", { to: "ask", approval_id: "a" });
    await pass(READ_GAP_MS);
    expect(world.state.pending.value.map((a) => a.id)).toEqual(["a", "b"]);
    world.pendingUntil = "";
    await pass(30_000 + AFTER_EXPIRY_MS);
    expect([world.state.pending.value, world.news()]).toEqual([[], ["pending", "pending"]]);
  });

  it("asks nothing while the page is hidden", async () => {
    world.state.setSection("messages");
    await pass(READ_GAP_MS);
    world.news();
    world.feed.follow("main", false);
    world.tell("record.message");
    await pass(MAX_DELAY_MS);
    expect([world.news(), world.seqs()]).toEqual([[], [1, 2, 3]]);
    world.messages = 4;
    world.feed.follow("main", true);
    world.stream.onopen?.();
    await pass(READ_GAP_MS);
    expect(world.seqs()).toEqual([1, 2, 3, 4]);
  });

  it("forgets a thread that is left or refused", async () => {
    world.state.setSection("messages");
    await pass(READ_GAP_MS);
    world.feed.follow("other", true);
    expect([world.state.messages.value, world.state.pending.value]).toEqual([null, []]);
    world.stream.onopen?.();
    await pass(READ_GAP_MS);
    expect(world.seqs()).toEqual([1, 2, 3]);
    world.feed.refuse();
    expect(world.state.messages.value).toBeNull();
  });
});
