import { describe, expect, it } from "vitest";
import { headlessTerminal, parsed } from "../../testing/headless";
import { spanning, whole, wordAt } from "./selection";

const SEPARATORS = " ()[]{}',\"`";

describe("wordAt", () => {
  it.each([
    ["in the middle", "one two-three four", 6, "two-three"],
    ["at its ends", "one two", 0, "one"],
    ["a blank is alone", "one two", 3, " "],
    ["nothing is alone", "one", 9, ""],
    ["a separator is alone", "f(x)", 1, "("],
    ["over the edge of a row", "aa bbbbbbbbbbbbbbbbbbbbbbb c", 12, "b".repeat(23)],
    ["wide characters", "x 日本語 y", 5, "日本語"],
    ["the next line is another word", "aaaaaaaaaa\r\nbbb", 12, "bbb"],
  ])("%s", async (_, text, cell, want) => {
    const term = headlessTerminal(10, 6);
    await parsed(term, text);
    const { from, to } = wordAt(term.buffer.active, 10, SEPARATORS, cell);
    let got = "";
    for (let y = Math.floor(from / 10); y * 10 < to; y++)
      got += term.buffer.active.getLine(y)?.translateToString(true, Math.max(0, from - y * 10), to - y * 10) ?? "";
    expect(got).toBe(want);
  });

  it("stays within what is quick to look at", async () => {
    const term = headlessTerminal(100, 10);
    await parsed(term, "x".repeat(20_000));
    const { from, to } = wordAt(term.buffer.active, 100, SEPARATORS, 10_000);
    expect(to - from).toBeLessThan(8200);
  });
});

describe("spanning", () => {
  it("grows in both directions and keeps the anchor", () => {
    expect(spanning({ from: 5, to: 8 }, 6)).toEqual({ from: 5, to: 8 });
    expect(spanning({ from: 5, to: 8 }, 11)).toEqual({ from: 5, to: 12 });
    expect(spanning({ from: 5, to: 8 }, 2)).toEqual({ from: 2, to: 8 });
    expect(spanning({ from: 8, to: 8 }, 2)).toEqual({ from: 2, to: 8 });
  });
});

describe("whole", () => {
  it.each([
    ["both halves", { from: 2, to: 6 }, { from: 2, to: 6 }],
    ["the right half of the first", { from: 3, to: 6 }, { from: 2, to: 6 }],
    ["the left half of the last", { from: 2, to: 5 }, { from: 2, to: 6 }],
    ["narrow characters", { from: 0, to: 1 }, { from: 0, to: 1 }],
    ["the end of a row", { from: 2, to: 10 }, { from: 2, to: 10 }],
  ])("%s", async (_, range, want) => {
    const term = headlessTerminal(10, 6);
    await parsed(term, "x 日本語 yx");
    expect(whole(term, range)).toEqual(want);
  });
});
