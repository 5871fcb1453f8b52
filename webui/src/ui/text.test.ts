import { describe, expect, it } from "vitest";
import { begin, clean, counted, exact, FOLD_CHARS, FOLD_LINES, folded, readable } from "./text";

describe("clean", () => {
  it("takes out controls and characters that reorder or hide text", () => {
    expect(clean("a\u001b[31mb\nc\u202egpj.exe\u0007")).toBe("a [31mb c gpj.exe");
    expect(clean("\u200b\u2066 \u0000")).toBe("");
  });

  it("keeps markup as text and bounds the length by characters", () => {
    expect(clean("<img onerror=x>")).toBe("<img onerror=x>");
    expect(Array.from(clean("👍".repeat(500)))).toHaveLength(120);
  });
});

describe("exact", () => {
  it("lets nothing hide", () => {
    expect(exact("rm -rf /\u202e # \u0007ok\u200d\u{e0041}")).toBe("rm -rf /\\u{202e} # \\u{7}ok\\u{200d}\\u{e0041}");
    expect(exact("a\n\tb é 😀")).toBe("a\n\tb é 😀");
  });
});

describe("readable", () => {
  it("is without the colours of terminals", () => {
    expect(readable("\u001b[1;31mred\u001b[0m \u001b]0;title\u0007end\r\nline")).toBe("red end\nline");
  });
  it("shows what would mislead, and keeps emoji whole", () => {
    expect(readable("a\u202eb\u001bc")).toBe("a\\u{202e}b\\u{1b}c");
    expect(readable("👩‍💻 ✔️")).toBe("👩‍💻 ✔️");
  });
});

describe("folded", () => {
  const lines = (n: number): string => Array.from({ length: n }, (_, i) => `line ${i + 1}`).join("\n");
  it("leaves a text that is not much longer", () => {
    expect([folded(""), folded("x".repeat(FOLD_CHARS + 200)), folded(lines(FOLD_LINES + 3))]).toEqual([
      null,
      null,
      null,
    ]);
  });
  it("has the first characters or lines of a longer one", () => {
    expect(folded("x".repeat(FOLD_CHARS + 201))).toHaveLength(FOLD_CHARS);
    expect(folded(lines(FOLD_LINES + 4))).toBe(lines(FOLD_LINES));
    expect(folded("y".repeat(FOLD_CHARS - 1) + "😀".repeat(200))).toBe("y".repeat(FOLD_CHARS - 1));
  });
});

describe("words", () => {
  it("count", () => {
    expect([counted(1, "call waits", "calls wait"), counted(2, "character")]).toEqual(["1 call waits", "2 characters"]);
  });
});

describe("begin", () => {
  it("cuts between characters and says how much is left out", () => {
    expect(begin("abc", 3)).toEqual({ text: "abc", left: 0 });
    expect(begin("abcd", 3)).toEqual({ text: "abc", left: 1 });
    expect(begin("ab😀d", 3)).toEqual({ text: "ab", left: 3 });
  });
});
