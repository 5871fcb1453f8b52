import { beforeEach, describe, expect, it } from "vitest";
import { ClipboardAccess } from "./clipboardaccess";

const hi = { selection: "c", data_b64: btoa("hi") };

class Memory {
  kept = new Map<string, string>();
  getItem = (key: string): string | null => this.kept.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.kept.set(key, value);
}

describe("ClipboardAccess", () => {
  let storage: Memory;
  let written: string[];
  let refuses: boolean;
  const guard = (): ClipboardAccess =>
    new ClipboardAccess({
      storage,
      write: (text) => {
        if (refuses) return Promise.reject(new Error("no user activation"));
        written.push(text);
        return Promise.resolve();
      },
    });

  beforeEach(() => {
    storage = new Memory();
    written = [];
    refuses = false;
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

  it("does without a clipboard and without storage", async () => {
    const none = new ClipboardAccess({ storage: null, write: null });
    await none.offer("a", hi);
    expect(none.waiting.value.size).toBe(0);
    storage.getItem = () => "{broken";
    storage.setItem = () => {
      throw new Error("quota");
    };
    const g = guard();
    await g.offer("a", hi);
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
