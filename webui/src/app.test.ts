import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

/** A page without a browser: the tests need the listeners, the socket and what is focused. */
const page = vi.hoisted(() => {
  const listeners = new Map<string, () => void>();
  const target = { addEventListener: (type: string, f: () => void) => listeners.set(type, f) };
  const state = { ...target, hidden: false, title: "", hasFocus: () => true };
  vi.stubGlobal("window", { ...target, matchMedia: () => ({ matches: true }) });
  vi.stubGlobal("document", state);
  vi.stubGlobal("location", { hash: "", href: "http://127.0.0.1/", pathname: "/" });
  return { listeners, state };
});

vi.mock("./terminal/screen", () => ({ Screen: class {} }));
vi.mock("./terminal/theme", () => ({ colors: {} }));
vi.mock("./terminal/webgl", () => ({}));

import { App } from "./app";

class Socket {
  static last: Socket;
  sent: string[] = [];
  onopen = (): void => {};
  onmessage = (_: { data: string }): void => {};
  constructor() {
    Socket.last = this;
  }
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {}
  receive(message: object): void {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

async function started(): Promise<App> {
  vi.stubGlobal("WebSocket", Socket);
  const app = new App();
  app.start();
  await vi.advanceTimersByTimeAsync(0);
  Socket.last.onopen();
  Socket.last.receive({ event: "list", items: ["a", "b"].map((id) => ({ id, session: "main", name: `T${id}` })) });
  Socket.last.sent = [];
  return app;
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const toasts = ({ store }: App): string[] => store.toasts.value.map((t) => t.text);

describe("App", () => {
  it("lists, titles and marks terminals, and ignores frames that it does not know", async () => {
    const { store } = await started();
    for (const frame of ["{", "7", '{"event":"weather"}']) Socket.last.onmessage({ data: frame });
    store.activeId.value = "b";
    expect([store.model.value.items.map((i) => i.id), page.state.title]).toEqual([["a", "b"], "Tb"]);
    page.state.hidden = true;
    Socket.last.receive({ event: "meta", pty: "b", bell: true });
    expect(page.state.title).toBe("● Tb");
    page.state.hidden = false;
    page.listeners.get("focus")?.();
    expect([page.state.title, Socket.last.sent]).toEqual(["Tb", [JSON.stringify({ type: "focus", pty: "b" })]]);
  });

  it("shows notifications as one clean line, and refusals", async () => {
    const app = await started();
    Socket.last.receive({ event: "meta", pty: "a", notify: { title: "done\u202e", body: "x\ny" } });
    Socket.last.receive({ event: "error", pty: "a", error: "no", code: "FORBIDDEN" });
    Socket.last.receive({ event: "error", pty: "a", error: "gone", code: "NOT_FOUND" });
    expect(toasts(app)).toEqual(["Ta: done: x y", "no"]);
  });

  it("offers the approvals where the active terminal needs one", async () => {
    const { store } = await started();
    Socket.last.receive({ event: "error", pty: "b", error: "ask first", code: "NEEDS_APPROVAL" });
    store.activeId.value = "b";
    Socket.last.receive({ event: "error", pty: "b", error: "ask first", code: "NEEDS_APPROVAL" });
    expect(store.toasts.value.map((t) => t.action?.label)).toEqual([undefined, "Review"]);
  });

  it("pastes up to the limit of a message, and only when it is connected", async () => {
    const app = await started();
    app.sendPaste("a", "ls");
    expect(Socket.last.sent).toEqual([JSON.stringify({ type: "paste", pty: "a", data: "ls" })]);
    app.sendPaste("a", "x".repeat(900 * 1024 + 1));
    const apart = new App();
    apart.sendPaste("a", "ls");
    expect([Socket.last.sent.length, toasts(app), toasts(apart)]).toEqual([
      1,
      ["Not pasted: 901 KiB is more than the limit of 900 KiB."],
      ["Not pasted: the server is not connected."],
    ]);
  });

  it("sends a key with the held modifiers, once", async () => {
    const app = await started();
    app.store.activeId.value = "a";
    app.store.sticky.value = { ctrl: true, alt: false };
    app.sendKey("Up");
    app.sendKey("Up");
    expect(Socket.last.sent.map((m) => JSON.parse(m).keys)).toEqual([["C-Up"], ["Up"]]);
  });

  it("measures the line by the answers to its pings", async () => {
    const app = await started();
    for (const [took, rtt] of [
      [80, 80],
      [160, 100], // a quarter
      [40, 40],
    ] as const) {
      Socket.last.receive({ event: "pong", t: performance.now() - took });
      expect(app.connection.rtt).toBe(rtt);
    }
  });
});
