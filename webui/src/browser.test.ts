import { describe, expect, it, vi } from "vitest";
import { readClipboard, Settings, writeClipboard } from "./browser";

class Memory {
  readonly kept = new Map<string, string>();
  full = false;
  getItem = (key: string): string | null => this.kept.get(key) ?? null;
  removeItem = (key: string): void => void this.kept.delete(key);
  setItem = (key: string, value: string): void => {
    if (this.full) throw new DOMException("full", "QuotaExceededError");
    this.kept.set(key, value);
  };
}

describe("Settings", () => {
  it("are the browser's, where it keeps them", () => {
    const storage = new Memory();
    expect(new Settings(() => storage).set("a", "1")).toBe(true);
    expect(new Settings(() => storage).get("a")).toBe("1");
    expect(new Settings(() => storage).get("b")).toBeNull();
  });

  it.each([
    [
      "site data blocked",
      (): Memory => {
        throw new DOMException("denied", "SecurityError");
      },
    ],
    ["no storage", (): Memory => null as unknown as Memory],
  ])("last as long as the page: %s", (_, storage) => {
    const settings = new Settings(storage);
    expect(settings.get("a")).toBeNull();
    settings.set("a", "1");
    expect(settings.set("a", "2")).toBe(false);
    expect(settings.get("a")).toBe("2");
  });

  it("leave no older value behind in a storage that is full, and come back when there is room", () => {
    const storage = new Memory();
    const settings = new Settings(() => storage);
    settings.set("a", "yes");
    storage.full = true;
    settings.set("a", "no");
    expect(settings.get("a")).toBe("no");
    expect(new Settings(() => storage).get("a")).toBeNull();
    storage.full = false;
    settings.set("a", "yes");
    expect(new Settings(() => storage).get("a")).toBe("yes");
  });
});

describe("the clipboard", () => {
  const withClipboard = (clipboard: unknown, execCommand: () => boolean): void => {
    vi.stubGlobal("navigator", { clipboard });
    vi.stubGlobal("document", { execCommand, addEventListener: () => {}, removeEventListener: () => {} });
  };
  const refuse = (): Promise<never> => Promise.reject(new DOMException("denied", "NotAllowedError"));

  it.each([
    ["of plain http", undefined],
    ["without permission", { writeText: refuse, readText: refuse }],
  ])("%s says no and never throws", async (_, clipboard) => {
    withClipboard(clipboard, () => false);
    expect(await writeClipboard("x")).toBe(false);
    expect(await readClipboard()).toBeNull();
    withClipboard(clipboard, () => {
      throw new Error("no such command");
    });
    expect(await writeClipboard("x")).toBe(false);
    vi.unstubAllGlobals();
  });
});

describe("the page", () => {
  const guarded =
    /\b(localStorage|sessionStorage|indexedDB|caches|cookie|navigator|crypto|serviceWorker|execCommand|matchMedia|visualViewport|(Resize|Intersection|Performance|Reporting)Observer|BroadcastChannel|SharedWorker)\b|\bNotification[.(]|\.vibrate\b/;
  const files = import.meta.glob<string>(
    ["./**/*.{ts,tsx}", "!./**/*.test.ts", "!./browser.ts", "!./api/wire.gen.ts"],
    {
      query: "?raw",
      import: "default",
      eager: true,
    },
  );
  const code = (source: string): string => source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");

  it("asks for what a browser may lack in browser.ts only", () => {
    expect(Object.keys(files).length).toBeGreaterThan(50);
    const found = Object.entries(files).flatMap(([file, source]) =>
      code(source)
        .split("\n")
        .filter((line) => guarded.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });
});
