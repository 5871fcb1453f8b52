import { describe, expect, it } from "vitest";
import type { ServerEvent } from "../api/wire";
import { Position } from "./position";

const pty = "a";
const shot = (seq: number): ServerEvent => ({
  event: "snapshot",
  pty,
  cols: 80,
  rows: 24,
  unicode: "11",
  reason: "connect",
  seq,
  data: "",
});
const resume = (seq: number): ServerEvent => ({ event: "resume", pty, cols: 80, rows: 24, seq });
const data = (seq: number): ServerEvent => ({ event: "data", pty, seq, data: "x" });

/** shown is a position at which a screen stands that followed `events`. */
function shown(...events: ServerEvent[]): Position {
  const p = new Position();
  p.attach();
  for (const e of events) expect(p.take(e)).toBe(true);
  return p;
}

describe("Position", () => {
  it("asks for everything first, and then for what follows the last event", () => {
    expect(new Position().attach()).toEqual({});
    expect(shown(shot(5)).attach()).toEqual({ since: 5 });
    expect(shown(shot(5), data(7)).attach()).toEqual({ since: 7 });
    expect(shown(shot(5), { event: "resize", pty, cols: 9, rows: 9, seq: 6 }).attach()).toEqual({ since: 6 });
    expect(shown(shot(5), { event: "exit", pty, seq: 8, code: 0, signal: "", reason: "exit" }).attach()).toEqual({
      since: 8,
    });
    expect(shown(shot(0)).attach()).toEqual({ since: 0 });
  });

  it("goes on after a resume, and begins again with a snapshot", () => {
    const p = shown(shot(5));
    p.attach();
    expect([p.fresh(), p.take(resume(5)), p.fresh(), p.take(data(6))]).toEqual([false, true, true, true]);
    p.attach();
    expect([p.take(shot(2)), p.attach()]).toEqual([true, { since: 2 }]);
  });

  it("leaves out what an older attachment still brings", () => {
    const p = shown(shot(5));
    p.attach();
    expect([p.take(data(6)), p.attach()]).toEqual([false, { since: 5 }]);
  });

  it("does not continue twice from one position", () => {
    const p = shown(shot(5));
    p.attach();
    p.attach();
    expect([p.take(resume(5)), p.take(data(7)), p.take(resume(5)), p.attach()]).toEqual([
      true,
      true,
      false,
      { since: 7 },
    ]);
  });

  it("needs a snapshot after output was dropped", () => {
    const p = shown(shot(5), data(6));
    p.forget();
    expect([p.fresh(), p.attach(), p.take(data(7)), p.take(resume(6)), p.take(shot(7))]).toEqual([
      false,
      {},
      false,
      false,
      true,
    ]);
  });

  it("is not moved by what is no position", () => {
    const p = shown(shot(5));
    expect([p.take({ event: "meta", pty, title: "t" }), p.attach()]).toEqual([false, { since: 5 }]);
  });
});
