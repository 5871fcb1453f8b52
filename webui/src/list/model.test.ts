import { describe, expect, it } from "vitest";
import { parseTerminal, type ServerEvent, type Terminal } from "../api/wire";
import { emptyModel, groups, hasEnded, type Model, reduce, withoutAttention } from "./model";

function info(id: string, more: Partial<Terminal> = {}): Terminal {
  const parsed = parseTerminal({ id, session: "main", cols: 80, rows: 24, state: "running" });
  if (parsed === null) throw new Error("not an info");
  return { ...parsed, ...more };
}

const reduced = (events: ServerEvent[], looking: string | null = null, from: Model = emptyModel): Model =>
  events.reduce((model, event) => reduce(model, event, looking), from);

describe("reduce", () => {
  it("knows nothing before the first list", () => {
    expect(emptyModel.listed).toBe(false);
    expect(reduced([{ event: "list", items: [] }]).listed).toBe(true);
  });

  it("replaces the list, and forgets marks of terminals that are gone", () => {
    const rang = reduced([
      { event: "list", items: [info("a"), info("b")] },
      { event: "meta", pty: "a", bell: true },
    ]);
    expect([...rang.attention]).toEqual(["a"]);
    const next = reduced([{ event: "list", items: [info("b")] }], null, rang);
    expect(next.items.map((i) => i.id)).toEqual(["b"]);
    expect(next.attention.size).toBe(0);
  });

  it("marks a bell of a terminal nobody looks at, from meta or from the list's count", () => {
    const listed = reduced([{ event: "list", items: [info("a"), info("b", { bell_count: 4 })] }]);
    expect(listed.attention.size).toBe(0);
    expect([...reduced([{ event: "meta", pty: "a", bell: true }], "b", listed).attention]).toEqual(["a"]);
    expect(reduced([{ event: "meta", pty: "a", bell: true }], "a", listed).attention.size).toBe(0);
    expect([...reduced([{ event: "list", items: [info("b", { bell_count: 5 })] }], null, listed).attention]).toEqual([
      "b",
    ]);
    expect(reduced([{ event: "list", items: [info("b", { bell_count: 5 })] }], "b", listed).attention.size).toBe(0);
  });

  it("marks a notification and takes the mark off when it is withoutAttention", () => {
    const model = reduced([
      { event: "list", items: [info("a")] },
      { event: "meta", pty: "a", notify: { title: "t", body: "" } },
    ]);
    expect([...model.attention]).toEqual(["a"]);
    expect(withoutAttention(model, "a").attention.size).toBe(0);
    expect(withoutAttention(model, "other")).toBe(model);
  });

  it("applies meta to its terminal only, and an empty title too", () => {
    const model = reduced([
      { event: "list", items: [info("a", { title: "old", cwd: "/" }), info("b", { title: "b" })] },
      { event: "meta", pty: "a", title: "", viewers: 3, size: { cols: 100, rows: 30 } },
    ]);
    expect(model.items[0]).toMatchObject({ title: "", cwd: "/", viewers: 3, cols: 100, rows: 30 });
    expect(model.items[1]).toMatchObject({ title: "b", viewers: 0, cols: 80 });
  });

  it("turns exit into a state: exited, or lost when nobody saw how", () => {
    const list: ServerEvent = { event: "list", items: [info("a")] };
    const exited = reduced([list, { event: "exit", pty: "a", seq: 1, code: 3, signal: "", reason: "exit" }]);
    expect(exited.items[0]).toMatchObject({ state: "exited", exit: { code: 3 } });
    const lost = reduced([list, { event: "exit", pty: "a", seq: 1, code: null, signal: "", reason: "lost" }]);
    expect(lost.items[0]?.state).toBe("lost");
  });

  it("keeps a refusal until the terminal shows a screen", () => {
    const refused = reduced([{ event: "error", pty: "x", error: "no such terminal", code: "NOT_FOUND" }]);
    expect(refused.refused.get("x")).toBe("no such terminal");
    const shown = reduced(
      [{ event: "snapshot", pty: "x", cols: 9, rows: 9, unicode: "11", reason: "connect", seq: 1, data: "" }],
      null,
      refused,
    );
    expect(shown.refused.size).toBe(0);
    expect(reduced([{ event: "error", pty: "x", error: "busy", code: "LIMIT" }]).refused.size).toBe(0);
  });

  it("returns the same model for output, so that nothing is drawn anew", () => {
    const model = reduced([{ event: "list", items: [info("a")] }]);
    expect(reduce(model, { event: "data", pty: "a", seq: 1, data: "x" }, null)).toBe(model);
    expect(reduce(model, { event: "pong" }, null)).toBe(model);
  });
});

describe("groups", () => {
  it("sorts sessions by name and keeps the terminals' order", () => {
    const items = [info("1", { session: "ops" }), info("2"), info("3", { session: "ops" })];
    expect(groups(items).map((g) => [g.session, g.items.map((i) => i.id)])).toEqual([
      ["main", ["2"]],
      ["ops", ["1", "3"]],
    ]);
  });
});

describe("hasEnded", () => {
  it("is true only without a process", () => {
    expect(["running", "restored", "exited", "lost"].map(hasEnded)).toEqual([false, false, true, true]);
  });
});
