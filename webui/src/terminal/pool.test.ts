import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ClientMessage, ServerEvent, Size } from "../api/wire";

/** Window has what the fake screens would need to fill it. */
const window = vi.hoisted(() => ({ wanted: { cols: 50, rows: 20 } as Size, scaled: false }));

vi.mock("./screen", () => ({
  Screen: class {
    open = (): void => {};
    show = (): void => {};
    hide = (): void => {};
    onResize = (): void => {};
    setState = (): boolean => false;
    snapshot = (): void => {};
    resize = (): void => {};
    ended = (): void => {};
    scale = (on: boolean): void => {
      window.scaled = on;
    };
    size = (): Size => ({ cols: 120, rows: 40 });
    wantedSize = (): Size => window.wanted;
  },
}));
vi.mock("./theme", () => ({ colors: {} }));
vi.mock("./webgl", () => ({ chooseRenderer: () => ({}) }));
vi.mock("../browser", () => ({ watchSize: () => {} }));

import { Pool } from "./pool";

let sent: ClientMessage[] = [];
let slow = false;
let touch = (): void => {};

function opened(): Pool {
  const pool = new Pool({
    send: (m) => sent.push(m) > 0,
    eventsFor: () => ({}) as never,
    stateOf: () => "running",
    slow: () => slow,
    changed: () => {},
  });
  pool.mount({ addEventListener: (_: string, f: () => void) => (touch = f) } as unknown as HTMLElement);
  return pool;
}

const shot: ServerEvent = {
  event: "snapshot",
  pty: "a",
  cols: 120,
  rows: 40,
  seq: 7,
  unicode: "11",
  reason: "connect",
  data: "",
};

/** taken is what was sent since the last call. */
function taken(): ClientMessage[] {
  const all = sent;
  sent = [];
  return all;
}

beforeEach(() => {
  sent = [];
  slow = false;
  window.wanted = { cols: 50, rows: 20 };
});

describe("Pool and sizes", () => {
  it("asks for the size that fills the page in the mode fit", () => {
    const pool = opened();
    pool.setMode("fit");
    pool.activate("a");
    expect(taken()).toEqual([{ type: "attach", pty: "a", cols: 50, rows: 20 }]);
    pool.handle(shot);
    taken();
    window.wanted = { cols: 60, rows: 20 };
    pool.applySize();
    touch();
    const resize = { type: "resize", pty: "a", cols: 60, rows: 20 };
    expect(taken()).toEqual([resize, resize]);
  });

  it.each(["pan", "scale"] as const)("asks for none in the mode %s, whatever changes", (mode) => {
    const pool = opened();
    pool.setMode(mode);
    pool.activate("a");
    expect([window.scaled, taken()]).toEqual([mode === "scale", [{ type: "attach", pty: "a" }]]);
    pool.handle(shot);
    taken();
    window.wanted = { cols: 60, rows: 20 };
    pool.applySize();
    touch();
    pool.activate("b");
    pool.activate("a");
    pool.reattach();
    expect(taken().filter((m) => "cols" in m)).toEqual([]);
    expect(pool.wantedSize()).toEqual({ cols: 60, rows: 20 });
  });

  it("withdraws its wish and makes it again, and goes on where it was", () => {
    const pool = opened();
    pool.setMode("fit");
    pool.activate("a");
    pool.handle(shot);
    taken();
    pool.setMode("scale");
    expect(taken()).toEqual([{ type: "attach", pty: "a", since: 7 }]);
    pool.setMode("pan");
    expect(taken()).toEqual([]);
    pool.setMode("fit");
    expect(taken()).toEqual([{ type: "attach", pty: "a", since: 7, cols: 50, rows: 20 }]);
  });

  it("asks for none before it knows whether it may", () => {
    opened().activate("a");
    expect(taken()).toEqual([{ type: "attach", pty: "a" }]);
  });
});

describe("Pool and history", () => {
  it("attaches without the history where the line is slow, and asks for it when it is wanted", () => {
    const pool = opened();
    slow = true;
    pool.activate("a");
    expect(taken()).toEqual([{ type: "attach", pty: "a", history: "lazy" }]);
    pool.wantHistory();
    expect(taken()).toEqual([]);
    pool.handle({ ...shot, partial: true });
    taken();
    pool.wantHistory("b");
    expect(taken()).toEqual([]);
    pool.wantHistory();
    pool.wantHistory("a");
    expect(taken()).toEqual([{ type: "history", pty: "a" }]);
    slow = false;
    pool.reattach();
    pool.wantHistory(); // nothing has come of this attachment
    expect(taken()).toEqual([{ type: "attach", pty: "a", since: 7, history: "lazy" }]);
    pool.handle(shot);
    pool.reattach();
    expect(taken().at(-1)).toEqual({ type: "attach", pty: "a", since: 7 });
  });

  it("attaches again for the history of a terminal that has ended: nothing follows its exit", () => {
    const pool = opened();
    slow = true;
    pool.activate("a");
    pool.handle({ ...shot, partial: true });
    pool.handle({ event: "exit", pty: "a", seq: 8, code: 0, signal: "", reason: "exit" });
    taken();
    pool.wantHistory();
    pool.wantHistory();
    expect(taken()).toEqual([{ type: "attach", pty: "a" }]);
  });

  it("does not ask for that of a terminal that it was removed from", () => {
    const pool = opened();
    slow = true;
    pool.activate("a");
    pool.handle({ ...shot, partial: true });
    pool.handle({ event: "kicked", pty: "a", error: "" });
    taken();
    pool.wantHistory();
    expect(taken()).toEqual([]);
  });
});

describe("Pool and a new connection", () => {
  it("greets with the shown terminal, and attaches it once", () => {
    const pool = opened();
    pool.setMode("fit");
    pool.activate("b");
    pool.activate("a");
    taken();
    const attach = { type: "attach", pty: "a", cols: 50, rows: 20 };
    expect(pool.greeting()).toEqual([attach]);
    slow = true; // as the first answer shows
    pool.reattach();
    expect(
      taken()
        .filter((m) => m.type === "attach")
        .map((m) => m.pty),
    ).toEqual(["b"]);
    slow = false;
    pool.reattach(); // another one
    expect(taken().at(-1)).toEqual(attach);
  });

  it("attaches it again where something else is right by then", () => {
    const pool = opened();
    pool.setMode("fit");
    pool.activate("a");
    pool.greeting();
    taken();
    pool.activate("b");
    window.wanted = { cols: 60, rows: 20 };
    pool.reattach();
    expect(taken().filter((m) => m.type === "attach" && m.pty === "a")).toEqual([
      { type: "attach", pty: "a", cols: 60, rows: 20, hidden: true },
    ]);
  });

  it("greets with nothing where nothing is shown, or the page was removed", () => {
    const pool = opened();
    expect(pool.greeting()).toEqual([]);
    pool.activate("a");
    pool.handle({ event: "kicked", pty: "a", error: "" });
    expect(pool.greeting()).toEqual([]);
  });
});
