import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ServerEvent } from "../api/wire";
import { LazyHistory, QUIET_MS } from "./lazyhistory";

const shot = (partial?: true): ServerEvent => ({
  event: "snapshot",
  pty: "a",
  cols: 80,
  rows: 24,
  unicode: "11",
  reason: "connect",
  seq: 1,
  data: "",
  ...(partial && { partial }),
});
const data: ServerEvent = { event: "data", pty: "a", seq: 2, data: "x" };

let asked = 0;
let connected = true;
const lazy = (): LazyHistory =>
  new LazyHistory(() => {
    if (connected) asked++;
    return connected;
  });

beforeEach(() => {
  vi.useFakeTimers();
  asked = 0;
  connected = true;
});
afterEach(() => vi.useRealTimers());

describe("LazyHistory", () => {
  it("is asked for again when the program has ended meanwhile", () => {
    const h = lazy();
    h.attach(true, false);
    h.take(shot(true));
    h.want();
    h.take({ event: "exit", pty: "a", seq: 3, code: 0, signal: "", reason: "exit" });
    h.want();
    expect(asked).toBe(2);
  });

  it("is none on a fast line", () => {
    const h = lazy();
    expect(h.attach(false, true)).toEqual({});
    h.take(shot());
    h.want();
    vi.advanceTimersByTime(10 * QUIET_MS);
    expect(asked).toBe(0);
  });

  it("asks when the user looks back, once per attachment, and not before there is a screen", () => {
    const h = lazy();
    expect(h.attach(true, false)).toEqual({ history: "lazy" });
    h.want();
    expect(asked).toBe(0);
    h.take(shot(true));
    h.want();
    h.want();
    h.take(shot(true)); // the viewer is behind
    h.want();
    vi.advanceTimersByTime(10 * QUIET_MS);
    expect(asked).toBe(1);
    h.take(shot());
    expect(h.attach(true, false)).toEqual({ history: "lazy" });
    h.take(data);
    h.want();
    expect(asked).toBe(1); // nothing is missing
  });

  it("asks once the terminal has been quiet", () => {
    const h = lazy();
    h.attach(true, false);
    h.take(shot(true));
    for (let i = 0; i < 5; i++) {
      vi.advanceTimersByTime(QUIET_MS - 1);
      h.take(data);
    }
    expect(asked).toBe(0);
    vi.advanceTimersByTime(QUIET_MS);
    expect(asked).toBe(1);
  });

  it("asks again on another connection, also on a fast one, as long as the history is missing", () => {
    const h = lazy();
    h.attach(true, false);
    h.take(shot(true));
    connected = false;
    h.want();
    connected = true;
    expect(h.attach(false, false)).toEqual({});
    expect(h.attach(false, true)).toEqual({ history: "lazy" });
    vi.advanceTimersByTime(10 * QUIET_MS);
    expect(asked).toBe(0); // nothing has come of this attachment
    h.take({ event: "resume", pty: "a", cols: 80, rows: 24, seq: 1 });
    h.want();
    expect(asked).toBe(1);
    h.take(shot());
    expect(h.attach(false, true)).toEqual({});
  });

  it("does not ask for a terminal that is gone", () => {
    const h = lazy();
    h.attach(true, false);
    h.take(shot(true));
    h.dispose();
    vi.advanceTimersByTime(10 * QUIET_MS);
    expect(asked).toBe(0);
  });
});
