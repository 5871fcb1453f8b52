import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeServer, pass } from "../../testing/fakestream";
import { MIN_DELAY_MS } from "../api/backoff";
import { READ_GAP_MS } from "../api/feed";
import { type Documents, Refusal } from "../api/requests";
import { parseLease, parseSession, parseTerminals } from "../api/wire";
import { AFTER_END_MS, ThreadState, USED_MS } from "./state";

const LIFE_MS = 60_000;

class World extends FakeServer {
  reads: string[] = [];
  told: string[] = [];
  answer: () => Promise<Documents | Refusal> = () => Promise.resolve(this.documents());
  readonly state = new ThreadState(this.feed, (thread) => {
    this.reads.push(thread);
    return this.answer();
  });
  constructor() {
    super();
    this.feed.add({
      events: ["record.message"],
      subjects: [{ wanted: () => true, read: () => Promise.resolve(() => this.told.push("read") > 0) }],
      take: (e) => this.told.push(`${e.type} ${e.seq}`),
      reset: () => this.told.push("reset"),
    });
  }
  documents(): Documents {
    const until = new Date(Date.now() + LIFE_MS).toISOString();
    return {
      session: parseSession({ session_id: "s1", status: "active", expires_at: until }),
      terminals: parseTerminals({ terminals: [{ terminal_id: "t1", cwd: "/", version: 1 }] }),
      lease: parseLease({ lease_id: "l1", observed_state: "running" }),
      clock: 0,
    };
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

describe("ThreadState", () => {
  it("reads the documents when its stream opens, and not at intervals", async () => {
    expect([world.stream.thread, world.stream.since, world.reads]).toEqual(["main", null, ["main"]]);
    expect(world.state.thread.value.lease?.observed_state).toBe("running");
    await pass(LIFE_MS - 1);
    expect(world.reads).toHaveLength(1);
  });

  it("does nothing when it is told the same again", () => {
    world.feed.follow("main", true);
    expect(world.streams).toHaveLength(1);
  });

  it("shows a directory at once, and asks only when somebody looks at the details", async () => {
    world.stream.send(5, "terminal.state", { cwd: "/tmp", version: 2 });
    expect(world.state.thread.value.terminals[0]?.cwd).toBe("/tmp");
    await pass(10 * READ_GAP_MS);
    expect(world.reads).toHaveLength(1);
    world.state.setDetailed(true);
    await pass(READ_GAP_MS);
    world.stream.send(6, "terminal.state", { cwd: "/var", version: 3 });
    await pass(READ_GAP_MS);
    expect(world.reads).toHaveLength(3);
  });

  it("asks for a terminal that it has never heard of", async () => {
    world.stream.send(5, "terminal.state", { terminal_id: "t9", cwd: "/tmp", version: 2 });
    await pass(READ_GAP_MS);
    expect(world.reads).toHaveLength(2);
  });

  it("reads once for many events", async () => {
    for (let i = 0; i < 100; i++) world.stream.send(i, "lease.running", { lease_id: "l1" });
    await pass(READ_GAP_MS);
    expect(world.reads).toHaveLength(2);
  });

  it("reads once more for what happens during a reading", async () => {
    let answer: (r: Documents) => void = () => undefined;
    await pass(READ_GAP_MS);
    world.answer = () => new Promise((resolve) => (answer = resolve));
    world.stream.send(1, "session.paused");
    await pass(0);
    for (let i = 2; i < 9; i++) world.stream.send(i, "session.resumed");
    world.answer = () => Promise.resolve(world.documents());
    await pass(10 * READ_GAP_MS);
    expect(world.reads).toHaveLength(2);
    answer(world.documents());
    await pass(READ_GAP_MS);
    expect(world.reads).toHaveLength(3);
  });

  it("is closed while the page is hidden, and goes on behind the last event", async () => {
    world.stream.send(7, "session.paused");
    world.state.setDetailed(true);
    await pass(READ_GAP_MS);
    world.reads.length = 1;
    world.stream.send(8, "session.paused");
    world.feed.follow("main", false);
    world.feed.retry();
    world.state.used();
    world.state.refresh();
    await pass(10 * LIFE_MS);
    expect([world.open(), world.reads.length]).toEqual([0, 1]);
    expect(world.state.thread.value.session?.status).toBe("paused");
    world.feed.follow("main", true);
    expect([world.open(), world.stream.since]).toEqual([1, 8]);
  });

  it("starts anew for another thread, and drops answers about the one before", async () => {
    let answer: (r: Documents) => void = () => undefined;
    world.answer = () => new Promise((resolve) => (answer = resolve));
    world.state.refresh();
    await pass(READ_GAP_MS);
    world.stream.send(7, "session.paused");
    world.feed.follow("other", true);
    expect([world.open(), world.stream.thread, world.stream.since]).toEqual([1, "other", null]);
    answer(world.documents());
    await pass(READ_GAP_MS);
    expect(world.state.thread.value.lease).toBeNull();
    world.feed.follow(null, true);
    expect(world.open()).toBe(0);
  });

  it("reconnects behind the last event when the stream breaks", async () => {
    world.stream.send(7, "session.paused");
    world.answer = () => Promise.resolve(new Refusal(0));
    world.stream.onerror?.();
    expect(world.open()).toBe(0);
    await pass(MIN_DELAY_MS);
    expect([world.open(), world.stream.since]).toEqual([1, 7]);
    expect(world.state.thread.value.lease).not.toBeNull();
    world.stream.onerror?.();
    world.feed.retry();
    expect(world.open()).toBe(1);
  });

  it.each([401, 403, 404, 501])("gives up and shows nothing when the documents are refused with %i", async (status) => {
    world.answer = () => Promise.resolve(new Refusal(status));
    world.stream.onerror?.();
    await pass(100 * MIN_DELAY_MS);
    expect([world.open(), world.state.thread.value.lease]).toEqual([0, null]);
    world.feed.follow("main", true);
    expect(world.open()).toBe(0);
    world.feed.retry();
    expect(world.open()).toBe(1);
  });

  it("shows nothing of a deleted thread", () => {
    world.stream.send(0, "thread.deleted");
    expect([world.open(), world.state.thread.value.lease]).toEqual([0, null]);
  });

  it("looks again when the session should have ended", async () => {
    await pass(LIFE_MS + AFTER_END_MS + 1);
    expect(world.reads).toHaveLength(2);
  });

  it("notes activity without events only for who looks, and rarely", async () => {
    world.state.used();
    await pass(USED_MS);
    expect(world.reads).toHaveLength(1);
    world.state.setDetailed(true);
    await pass(READ_GAP_MS);
    for (let i = 0; i < 1000; i++) world.state.used();
    await pass(USED_MS);
    expect(world.reads).toHaveLength(3);
  });

  it("tells another listener what it takes, which changes nothing else", async () => {
    world.stream.send(7, "record.message");
    world.stream.send(8, "record.message");
    await pass(10 * READ_GAP_MS);
    expect(world.reads).toHaveLength(1);
    world.stream.onerror?.();
    await pass(MIN_DELAY_MS);
    expect(world.stream.since).toBe(8);
    world.stream.onopen?.();
    await pass(0);
    world.stream.send(0, "thread.deleted");
    expect(world.told).toEqual(["reset", "read", "record.message 7", "record.message 8", "read", "reset"]);
  });

  it("keeps a dismissed notice away", () => {
    world.stream.send(3, "session.expiring", {
      reason: "idle_timeout",
      expires_at: new Date(Date.now() + 5000).toISOString(),
    });
    expect(world.state.thread.value.notice?.dismissed).toBe(false);
    world.state.dismiss();
    expect(world.state.thread.value.notice?.dismissed).toBe(true);
  });
});
