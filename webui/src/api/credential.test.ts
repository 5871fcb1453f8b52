import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

/** A browser's page: its address, its history and its storage. */
const page = { hash: "", pathname: "/base/", addresses: [] as string[], kept: new Map<string, string>(), full: false };

beforeEach(() => {
  vi.resetModules();
  Object.assign(page, { hash: "", pathname: "/base/", addresses: [], kept: new Map(), full: false });
  vi.stubGlobal("location", page);
  vi.stubGlobal("history", {
    state: null,
    replaceState: (_state: unknown, _title: string, address: string) => page.addresses.push(address),
  });
  vi.stubGlobal("window", {
    localStorage: {
      getItem: (key: string) => page.kept.get(key) ?? null,
      removeItem: (key: string) => page.kept.delete(key),
      setItem: (key: string, value: string) => {
        if (page.full) throw new DOMException("full", "QuotaExceededError");
        page.kept.set(key, value);
      },
    },
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const right = (): Promise<number> => Promise.resolve(200);

describe("the page's half of a login", () => {
  it("is taken out of the address and kept", async () => {
    const { credentials, pageSecret, takeSecret } = await import("./credential");
    expect([pageSecret(), credentials()]).toEqual(["", {}]);
    page.hash = "#page=Ab-_9";
    expect(await takeSecret(right)).toBe(true);
    expect(page.addresses).toEqual(["/base/"]);
    expect([...page.kept.values()]).toEqual(["Ab-_9"]);
    expect(credentials()).toEqual({ "Evertty-Page": "Ab-_9" });
  });

  it("lasts as long as the page where the browser keeps nothing", async () => {
    const { pageSecret, takeSecret } = await import("./credential");
    page.full = true;
    page.hash = "#page=one";
    expect([await takeSecret(right), pageSecret(), page.addresses.length]).toEqual([false, "one", 1]);
  });

  it.each([
    [200, "new"],
    [0, "new"],
    [503, "new"],
    [401, "old"],
    [429, "old"],
  ])("displaces another unless it is wrong: %i", async (status, kept) => {
    const { pageSecret, SECRET_KEY, takeSecret } = await import("./credential");
    page.kept.set(SECRET_KEY, "old");
    page.hash = "#page=new";
    const probed: string[] = [];
    const probe = (secret: string): Promise<number> => Promise.resolve(probed.push(secret) && status);
    expect([await takeSecret(probe), pageSecret(), probed, page.addresses.length]).toEqual([true, kept, ["new"], 1]);
  });

  it("is not of a guest, whoever is logged in beside the page", async () => {
    const { credentials, pageSecret, SECRET_KEY, takeSecret } = await import("./credential");
    page.kept.set(SECRET_KEY, "old");
    page.hash = "#page=new";
    page.pathname = "/t/K7RZ5Q2MLN3XHB6VTWE4CYAD2F/";
    expect([await takeSecret(right), pageSecret(), credentials()]).toEqual([true, "", {}]);
    expect(page.kept.get(SECRET_KEY)).toBe("old");
  });

  it("is not looked for in other addresses, and comes from another tab", async () => {
    const { pageSecret, SECRET_KEY, takeSecret } = await import("./credential");
    for (page.hash of ["", "#/pty/x", "#page=", "#page=a b", "#/page=x"]) expect(await takeSecret(right)).toBe(true);
    expect([page.addresses, pageSecret()]).toEqual([[], ""]);
    page.kept.set(SECRET_KEY, "two");
    expect(pageSecret()).toBe("two");
  });
});
