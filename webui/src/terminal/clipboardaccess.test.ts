import { beforeEach, describe, expect, it } from "vitest";
import { ClipboardAccess } from "./clipboardaccess";

const hi = { selection: "c", data_b64: btoa("hi") };

describe("ClipboardAccess", () => {
  let kept: Map<string, string>;
  let written: string[];
  let refuses: boolean;
  let refusals: number;
  const settings = {
    get: (key: string): string | null => kept.get(key) ?? null,
    set: (key: string, value: string): boolean => kept.set(key, value).has(key),
  };
  const guard = (): ClipboardAccess =>
    new ClipboardAccess({
      settings,
      write: async (text) => {
        if (!refuses) written.push(text);
        return !refuses;
      },
      refused: () => refusals++,
    });

  beforeEach(() => {
    kept = new Map();
    written = [];
    refuses = false;
    refusals = 0;
  });

  it("writes nothing before the user said yes, and then the newest", async () => {
    const g = guard();
    await g.offer("a", hi);
    await g.offer("a", { selection: "", data_b64: btoa("newer") });
    expect(written).toEqual([]);
    expect(g.waiting.value.get("a")).toEqual({ text: "newer", why: "ask" });
    await g.answer("a", true);
    expect(written).toEqual(["newer"]);
    expect(g.waiting.value.size).toBe(0);
  });

  it("asks once a terminal, also over a reload, and remembers a no", async () => {
    const g = guard();
    await g.offer("a", hi);
    await g.answer("a", true);
    await g.offer("b", hi);
    await g.answer("b", false);
    const again = guard();
    await again.offer("a", { selection: "c", data_b64: btoa("two") });
    await again.offer("b", hi);
    await again.offer("c", hi);
    expect(written).toEqual(["hi", "two"]);
    expect([...again.waiting.value.keys()]).toEqual(["c"]);
  });

  it("keeps what the browser refuses for a click", async () => {
    const g = guard();
    await g.answer("a", true);
    refuses = true;
    await g.offer("a", hi);
    expect(g.waiting.value.get("a")).toEqual({ text: "hi", why: "click" });
    expect(refusals).toBe(0);
    refuses = false;
    await g.copy("a");
    expect(written).toEqual(["hi"]);
    expect(g.waiting.value.size).toBe(0);
  });

  it("takes UTF-8, and neither other selections, nor what is no base64 or too large", async () => {
    const g = guard();
    await g.answer("a", true);
    await g.offer("a", { selection: "c", data_b64: "w7zigqzwn5GN" });
    await g.offer("a", { selection: "p", data_b64: btoa("primary") });
    await g.offer("a", { selection: "c", data_b64: "%%" });
    await g.offer("a", { selection: "c", data_b64: "A".repeat(1 << 21) });
    expect(written).toEqual(["ü€👍"]);
  });

  it("says when the browser refuses although the user clicked", async () => {
    const g = guard();
    refuses = true;
    await g.offer("a", hi);
    await g.answer("a", true);
    expect(refusals).toBe(1);
    await g.copy("a");
    expect(refusals).toBe(2);
    expect(g.waiting.value.get("a")).toEqual({ text: "hi", why: "click" });
  });

  it("asks again when what was kept is broken", async () => {
    kept.set("evertty.clipboard", "{broken");
    const g = guard();
    await g.offer("a", hi);
    expect(g.waiting.value.get("a")?.why).toBe("ask");
    await g.answer("a", true);
    await g.offer("a", hi);
    expect(written).toEqual(["hi", "hi"]);
  });

  it("forgets what waits for terminals that are gone", async () => {
    const g = guard();
    await g.offer("a", hi);
    await g.offer("b", hi);
    g.retain(new Set(["b"]));
    expect([...g.waiting.value.keys()]).toEqual(["b"]);
  });
});
