import { describe, expect, it } from "vitest";
import { looksBack, shortcutOf, typed, withSticky } from "./keys";

const ctrl = { ctrl: true, alt: false };
const alt = { ctrl: false, alt: true };
const none = { ctrl: false, alt: false };
const input = (data: string) => ({ type: "input", pty: "p", data });
const keys = (...names: string[]) => ({ type: "keys", pty: "p", keys: names });

describe("typed", () => {
  it("sends text as it is while nothing is held", () => {
    expect(typed("p", "ls\r", none)).toEqual([input("ls\r")]);
    expect(typed("p", "", ctrl)).toEqual([]);
  });

  it("turns the next character into a named key", () => {
    expect(typed("p", "c", ctrl)).toEqual([keys("C-c")]);
    expect(typed("p", "C", ctrl)).toEqual([keys("C-c")]);
    expect(typed("p", "B", alt)).toEqual([keys("M-B")]);
    expect(typed("p", "\r", alt)).toEqual([keys("M-Enter")]);
    expect(typed("p", " ", ctrl)).toEqual([keys("C-Space")]);
    expect(typed("p", "x", { ctrl: true, alt: true })).toEqual([keys("C-M-x")]);
  });

  it("holds for one character of a whole word", () => {
    expect(typed("p", "cat", ctrl)).toEqual([keys("C-c"), input("at")]);
  });

  it("leaves reports, escape sequences and characters without a name alone", () => {
    for (const data of ["\x1b[I", "\x1b[<0;1;1M", "\x1b[A", "é", "👍", "\x01"])
      expect(typed("p", data, ctrl)).toEqual([input(data)]);
  });
});

describe("withSticky", () => {
  it("puts the modifiers in the server's order", () => {
    expect([withSticky("Up", none), withSticky("Up", ctrl), withSticky("Up", { ctrl: true, alt: true })]).toEqual([
      "Up",
      "C-Up",
      "C-M-Up",
    ]);
  });
});

describe("shortcutOf", () => {
  const chord = { key: "F", code: "KeyF", ctrlKey: true, shiftKey: true, altKey: false, metaKey: false };
  it("takes two chords and leaves everything else to the program", () => {
    expect(shortcutOf(chord)).toBe("search");
    expect(shortcutOf({ ...chord, key: "C", code: "KeyI" })).toBe("copy");
    expect(shortcutOf({ ...chord, key: "А", code: "KeyF" })).toBe("search");
    expect(shortcutOf({ ...chord, shiftKey: false })).toBeNull();
    expect(shortcutOf({ ...chord, altKey: true })).toBeNull();
    expect(shortcutOf({ ...chord, key: "V", code: "KeyV" })).toBeNull();
  });
});

describe("looksBack", () => {
  it("knows the keys that scroll up and select all, and no key of the program", () => {
    const key = { key: "PageUp", code: "PageUp", ctrlKey: false, shiftKey: true, altKey: false, metaKey: false };
    expect(looksBack(key)).toBe(true);
    expect(looksBack({ ...key, shiftKey: false })).toBe(false);
    expect(looksBack({ ...key, key: "a", shiftKey: false, metaKey: true })).toBe(true);
    expect(looksBack({ ...key, key: "A" })).toBe(false);
  });
});
