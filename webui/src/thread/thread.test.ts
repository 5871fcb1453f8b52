import { describe, expect, it } from "vitest";
import type { Documents } from "../api/requests";
import { parseLease, parseSession, parseTerminals, parseThreadEvent, type ThreadEvent } from "../api/wire";
import { reduceThread, type Thread, terminalInView, unknownThread, withDocuments } from "./thread";

const START = Date.parse("2026-11-22T06:00:00Z");
const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString();

const sessionJSON = (more: object = {}): object => ({
  thread_id: "main",
  session_id: "sess-1",
  terminal_id: "t1",
  status: "active",
  created_at: at(0),
  last_active_at: at(10),
  expires_at: at(1810),
  ...more,
});

const terminalsJSON = {
  terminals: [
    {
      terminal_id: "t1",
      kind: "pty",
      name: "web",
      cwd: "/home",
      env_delta: { B: "2", A: "1" },
      env_unset: ["C"],
      version: 3,
      active: false,
    },
    { terminal_id: "t2", kind: "shell", name: "", cwd: "/", env_delta: {}, env_unset: [], version: 1, active: true },
    { cwd: "/no/id" },
  ],
};

const leaseJSON = {
  lease_id: "lease-1",
  provider_name: "local",
  instance: { instance_id: "i1", state: "running", started_at: at(0) },
  updated_at: at(1),
  desired_state: "running",
  observed_state: "running",
  last_error: "",
};

const documents = (more: object = {}): Documents => ({
  session: parseSession(sessionJSON(more)),
  terminals: parseTerminals(terminalsJSON),
  lease: parseLease(leaseJSON),
  clock: 0,
});

const known: Thread = withDocuments(unknownThread, documents());

function event(type: string, data: object = {}): ThreadEvent {
  const e = parseThreadEvent(
    JSON.stringify({ thread_id: "main", seq: 7, type, at: at(20), data: { session_id: "sess-1", ...data } }),
  );
  if (e === null) throw new Error("not an event");
  return e;
}

const reduced = (events: ThreadEvent[], from: Thread = known): Thread => events.reduce(reduceThread, from);

describe("documents", () => {
  it("are read as the server writes them", () => {
    expect(known.session).toMatchObject({
      session_id: "sess-1",
      status: "active",
      created_at: at(0),
      expires_at: at(1810),
    });
    expect(known.terminals).toHaveLength(2);
    expect(known.terminals[0]).toMatchObject({
      terminal_id: "t1",
      cwd: "/home",
      version: 3,
      env_delta: { A: "1", B: "2" },
      env_unset: ["C"],
    });
    expect(known.lease).toMatchObject({
      provider_name: "local",
      instance: { instance_id: "i1" },
      observed_state: "running",
      desired_state: "running",
    });
  });

  it("may lack everything but the id", () => {
    expect(parseLease({ lease_id: "l", instance: null })).toMatchObject({
      instance: null,
      observed_state: "",
    });
    expect(parseSession({ session_id: "s", status: "idle", expires_at: 7 })).toMatchObject({ expires_at: null });
    expect([parseSession({}), parseSession(null), parseLease([])]).toEqual([null, null, null]);
    expect([parseTerminals(null), parseTerminals({ terminals: 3 })]).toEqual([[], []]);
  });
});

describe("parseThreadEvent", () => {
  it("never throws", () => {
    expect(["", "{", "null", "[]", '{"type":""}', '{"seq":1}'].map(parseThreadEvent)).toEqual([
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
    expect(parseThreadEvent('{"type":"x"}')).toMatchObject({ type: "x", seq: 0, data: {} });
  });
});

describe("reduceThread", () => {
  it("follows the directory of the terminal that is meant, and never goes back", () => {
    const moved = reduced([event("terminal.state", { terminal_id: "t1", cwd: "/tmp", version: 4 })]);
    expect(moved.terminals.map((t) => [t.cwd, t.version])).toEqual([
      ["/tmp", 4],
      ["/", 1],
    ]);
    const older = reduced([event("terminal.state", { terminal_id: "t1", cwd: "/old", version: 2 })], moved);
    expect(older.terminals[0]?.cwd).toBe("/tmp");
  });

  it("follows the lease that is shown", () => {
    expect(reduced([event("lease.paused", { lease_id: "lease-1" })]).lease?.observed_state).toBe("paused");
    expect(reduced([event("lease.dead", { lease_id: "another" })]).lease?.observed_state).toBe("running");
  });

  it("pauses, resumes and closes", () => {
    expect(reduced([event("session.paused", { expires_at: at(86400) })]).session).toMatchObject({
      status: "paused",
      expires_at: at(86400),
    });
    expect(reduced([event("session.paused"), event("session.resumed")]).session?.status).toBe("active");
    const closed = reduced([event("session.closed", { reason: "budget" })]);
    expect(closed.session).toMatchObject({ status: "closed", close_reason: "budget", ended_at: at(20) });
    expect(closed.notice).toMatchObject({ over: true, reason: "budget", at: START + 20_000 });
  });

  it("ignores what happened to another session", () => {
    expect(reduced([event("session.closed", { session_id: "sess-0", reason: "budget" })])).toBe(known);
  });

  it("does not call a session over that another one replaces, nor one that was over before", () => {
    expect(reduced([event("session.closed", { reason: "superseded" })]).notice).toBeNull();
    const over = withDocuments(unknownThread, documents({ status: "closed" }));
    expect(reduced([event("session.closed", { reason: "budget" })], over).notice).toBeNull();
  });

  it("forgets a thread that was deleted", () => {
    expect(reduced([event("thread.deleted")])).toBe(unknownThread);
  });

  it("returns the same thread for what it does not know", () => {
    expect(reduced([event("command.started"), event("something.new")])).toBe(known);
  });
});

describe("the notice", () => {
  const warning = event("session.expiring", { reason: "idle_timeout", expires_at: at(1810) });
  const warned = reduced([warning]);

  it("comes with the warning", () => {
    expect(warned.notice).toEqual({
      session: "sess-1",
      reason: "idle_timeout",
      at: START + 1810_000,
      over: false,
      dismissed: false,
    });
    expect(warned.session?.status).toBe("idle");
  });

  it("stays while the documents say the same, and goes with a touch", () => {
    expect(withDocuments(warned, documents({ status: "idle" })).notice).toBe(warned.notice);
    expect(reduced([event("session.active")], warned).notice).toBeNull();
    expect(withDocuments(warned, documents({ expires_at: at(3600) })).notice).toBeNull();
    expect(withDocuments(warned, documents({ status: "active" })).notice).toBeNull();
    expect(reduced([event("session.created", { session_id: "sess-2" })], warned).notice).toBeNull();
  });

  it("is there for a page that opens after the warning", () => {
    expect(withDocuments(unknownThread, documents({ status: "idle" })).notice).toMatchObject({
      at: START + 1810_000,
      over: false,
    });
  });

  it("of the longest time stays although the session is active", () => {
    const long = reduced([event("session.expiring", { reason: "max_duration", expires_at: at(1810) })]);
    expect(long.session?.status).toBe("active");
    expect(withDocuments(long, documents()).notice).toBe(long.notice);
  });

  it("that was dismissed does not come back with the documents", () => {
    const dismissed: Thread = { ...warned, notice: warned.notice && { ...warned.notice, dismissed: true } };
    expect(withDocuments(dismissed, documents({ status: "idle" })).notice?.dismissed).toBe(true);
    expect(
      reduced([event("session.expiring", { reason: "idle_timeout", expires_at: at(5000) })], dismissed).notice
        ?.dismissed,
    ).toBe(false);
  });

  it("turns into the end, from the event or from the documents, and goes with the next session", () => {
    const closed = reduced([event("session.closed", { reason: "idle_timeout" })], warned);
    expect(closed.notice).toMatchObject({ over: true, reason: "idle_timeout" });
    const missed = withDocuments(
      warned,
      documents({ status: "closed", close_reason: "idle_timeout", ended_at: at(1811) }),
    );
    expect(missed.notice).toMatchObject({ over: true, reason: "idle_timeout", at: START + 1811_000 });
    expect(withDocuments(missed, documents({ status: "closed" })).notice).toBe(missed.notice);
    expect(withDocuments(missed, documents({ session_id: "sess-2" })).notice).toBeNull();
  });
});

describe("terminalInView", () => {
  it("is the named one, else the active one, else the first, else none", () => {
    expect(terminalInView(known, "t1")?.terminal_id).toBe("t1");
    expect(terminalInView(known, "gone")?.terminal_id).toBe("t2");
    expect(terminalInView({ ...known, terminals: known.terminals.slice(0, 1) }, null)?.terminal_id).toBe("t1");
    expect(terminalInView(unknownThread, "t1")).toBeUndefined();
  });
});
