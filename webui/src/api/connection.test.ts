import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MAX_DELAY_MS, MIN_DELAY_MS } from "./backoff";
import {
  CLOSE_UNAUTHORIZED,
  CONNECT_MS,
  Connection,
  GAP_MS,
  PING_MS,
  PONG_MS,
  WAKE_PONG_MS,
  WATCH_MS,
} from "./connection";
import type { ClientMessage } from "./wire";

/** Line is the network's end of one socket: the test opens it, answers and cuts it. */
class Line {
  onopen: (() => void) | null = null;
  onclose: ((e?: { code: number }) => void) | null = null;
  onmessage: ((e: { data: unknown }) => void) | null = null;
  sent: string[] = [];
  closed = false;
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.closed = true;
  }
}

class World {
  lines: Line[] = [];
  frames: string[] = [];
  greeting: ClientMessage[] = [];
  opened = 0;
  status = 0;
  readonly connection = new Connection({
    open: () => {
      const line = new Line();
      this.lines.push(line);
      return line as unknown as WebSocket;
    },
    secret: () => "s3cret",
    probe: () => Promise.resolve(this.status),
    firstRoundTrip: () => 0,
    greeting: () => this.greeting,
    opened: () => this.opened++,
    frame: (text) => this.frames.push(text),
    random: () => 0,
  });
  get line(): Line {
    const line = this.lines.at(-1);
    if (line === undefined) throw new Error("no socket was opened");
    return line;
  }
  get state(): string {
    return this.connection.status.value.state;
  }
  pings(): number {
    return this.line.sent.slice(login.length).filter((s) => s.includes('"ping"')).length;
  }
}

let world: World;
beforeEach(() => {
  vi.useFakeTimers();
  world = new World();
  world.connection.start();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The first messages of each socket. */
const login = [JSON.stringify({ type: "auth", page: "s3cret" }), JSON.stringify({ type: "ping", t: 0 })];
const open = (): void => {
  world.line.onopen?.();
  world.line.onmessage?.({ data: "list" });
};
const cut = (code = 1006): void => world.line.onclose?.({ code });

describe("Connection", () => {
  it("opens one socket and tells when it is open", () => {
    expect([world.lines.length, world.state]).toEqual([1, "connecting"]);
    world.line.onopen?.();
    expect([world.opened, world.state, world.line.sent]).toEqual([0, "connecting", login]);
    world.line.onmessage?.({ data: "hello" });
    expect([world.opened, world.state]).toEqual([1, "open"]);
    expect(world.frames).toEqual(["hello"]);
  });

  it("greets with the login, and is not open for that", () => {
    world.greeting = [{ type: "attach", pty: "p" }];
    world.line.onopen?.();
    expect([world.opened, world.state, world.connection.send({ type: "ping" })]).toEqual([0, "connecting", false]);
    expect(world.line.sent).toEqual([...login, '{"type":"attach","pty":"p"}']);
  });

  it("sends nothing, now or later, unless it is open", () => {
    const message = { type: "input", pty: "p", data: "rm\r" } as const;
    expect(world.connection.send(message)).toBe(false);
    open();
    expect(world.line.sent).toEqual(login);
    expect(world.connection.send(message)).toBe(true);
    expect(world.line.sent).toEqual([...login, JSON.stringify(message)]);
  });

  it("comes back with growing, bounded delays and starts over after success", () => {
    open();
    cut();
    expect(world.state).toBe("reconnecting");
    const delays: number[] = [];
    for (let i = 0; i < 8; i++) {
      const { retryAt, attempt } = world.connection.status.value;
      expect(attempt).toBe(i + 1);
      delays.push(retryAt - Date.now());
      vi.advanceTimersByTime(retryAt - Date.now());
      expect(world.connection.status.value.retryAt).toBe(0);
      cut();
    }
    expect(delays[0]).toBe(MIN_DELAY_MS);
    expect(Math.max(...delays)).toBeLessThanOrEqual(MAX_DELAY_MS);
    world.connection.retryNow();
    open();
    expect(world.connection.status.value).toEqual({ state: "open", attempt: 0, retryAt: 0 });
    expect(world.opened).toBe(2);
  });

  it("retries at once when asked, but never with two sockets", () => {
    cut();
    world.connection.retryNow();
    world.connection.retryNow();
    world.connection.wake();
    expect(world.lines.length).toBe(2);
    vi.advanceTimersByTime(CONNECT_MS - 1);
    expect(world.lines.length).toBe(2);
  });

  it("gives an attempt up that does not open, and ignores what comes of it later", () => {
    const first = world.line;
    const lateOpen = first.onopen;
    vi.advanceTimersByTime(CONNECT_MS);
    expect([first.closed, world.state]).toEqual([true, "reconnecting"]);
    lateOpen?.();
    expect([world.opened, world.state]).toEqual([0, "reconnecting"]);
  });

  it("drops a connection that does not answer a ping", () => {
    open();
    vi.advanceTimersByTime(PING_MS);
    expect(world.pings()).toBe(1);
    vi.advanceTimersByTime(PONG_MS - 1);
    expect(world.state).toBe("open");
    vi.advanceTimersByTime(1);
    expect([world.state, world.lines[0]?.closed]).toEqual(["reconnecting", true]);
  });

  it("takes any frame for a sign of life", () => {
    open();
    for (let i = 1; i <= 5; i++) {
      vi.advanceTimersByTime(PING_MS);
      world.line.onmessage?.({ data: "output" });
    }
    expect([world.state, world.lines.length, world.pings()]).toEqual(["open", 1, 5]);
  });

  it("checks the connection soon after the clock jumped", () => {
    open();
    vi.setSystemTime(Date.now() + 3600_000);
    vi.advanceTimersByTime(WATCH_MS);
    expect(world.pings()).toBe(1);
    vi.advanceTimersByTime(WAKE_PONG_MS);
    expect(world.state).toBe("reconnecting");
  });

  it("retries at once after the clock jumped while it was waiting", () => {
    cut();
    for (let i = 0; i < 5; i++) {
      world.connection.retryNow();
      cut();
    }
    const before = world.lines.length;
    vi.setSystemTime(Date.now() + 3600_000);
    vi.advanceTimersByTime(WATCH_MS);
    expect(world.lines.length).toBe(before + 1);
  });

  it("asks again instead of judging when its own timer was late", () => {
    open();
    // Between two looks of the watchdog, so that the answer's timer is the first to run after the jump.
    vi.advanceTimersByTime(WATCH_MS / 2);
    world.connection.wake();
    vi.advanceTimersByTime(WAKE_PONG_MS - 1);
    vi.setSystemTime(Date.now() + 2 * GAP_MS);
    vi.advanceTimersByTime(1);
    expect([world.state, world.pings()]).toEqual(["open", 2]);
    vi.advanceTimersByTime(2 * WAKE_PONG_MS);
    expect(world.state).toBe("reconnecting");
  });

  it("says when the user is not logged in, and tries when another tab has logged in", async () => {
    world.status = 401;
    cut();
    await vi.advanceTimersByTimeAsync(0);
    expect(world.connection.status.value).toEqual({ state: "unauthorized", attempt: 0, retryAt: 0 });
    await vi.advanceTimersByTimeAsync(10 * MAX_DELAY_MS);
    expect([world.lines.length, world.state]).toEqual([1, "unauthorized"]);
    world.connection.wake();
    expect([world.lines.length, world.state]).toEqual([2, "unauthorized"]);
    open();
    expect(world.state).toBe("open");
  });

  it.each([
    ["refused", false],
    ["ended", true],
  ])("does not come back by itself when its login is %s", async (_, was) => {
    world.status = 401;
    world.line.onopen?.();
    if (was) open();
    cut(CLOSE_UNAUTHORIZED);
    await vi.advanceTimersByTimeAsync(10 * MAX_DELAY_MS);
    expect([world.lines.length, world.state]).toEqual([1, "unauthorized"]);
    world.connection.retryNow();
    world.line.onopen?.();
    expect([world.lines.length, world.state]).toEqual([2, "unauthorized"]);
    cut(CLOSE_UNAUTHORIZED);
    expect(world.state).toBe("unauthorized");
  });

  it("comes back when only its first message was too late", async () => {
    world.status = 200;
    world.line.onopen?.();
    cut(CLOSE_UNAUTHORIZED);
    await vi.advanceTimersByTimeAsync(MIN_DELAY_MS);
    expect([world.lines.length, world.state]).toEqual([2, "reconnecting"]);
    open();
    expect(world.state).toBe("open");
  });

  it("connects anew when another tab has logged in", () => {
    open();
    world.connection.renew();
    expect([world.lines.length, world.lines[0]?.closed]).toEqual([2, true]);
    world.connection.renew(); // while it is connecting
    expect(world.lines.length).toBe(3);
    open();
    expect(world.state).toBe("open");
    vi.advanceTimersByTime(MAX_DELAY_MS);
    expect(world.lines.length).toBe(3);
  });

  it("goes back to reconnecting when the server is gone altogether", async () => {
    world.status = 401;
    cut();
    await vi.advanceTimersByTimeAsync(0);
    world.status = 0;
    world.connection.retryNow();
    cut();
    await vi.advanceTimersByTimeAsync(0);
    expect(world.state).toBe("reconnecting");
  });

  it("does not ask about the login when an open connection breaks", async () => {
    world.status = 401;
    open();
    cut();
    await vi.advanceTimersByTimeAsync(0);
    expect(world.state).toBe("reconnecting");
  });

  it("measures the round trip: a shorter one counts at once, a longer one by a quarter, a new connection anew", () => {
    const login = (ms: number): void => {
      world.line.onopen?.();
      vi.advanceTimersByTime(ms);
      world.line.onmessage?.({ data: "list" });
    };
    const pong = (ms: number): number => {
      world.connection.wake();
      const t = JSON.parse(world.line.sent.at(-1) ?? "").t;
      vi.advanceTimersByTime(ms);
      world.line.onmessage?.({ data: "pong" });
      world.connection.pong(t);
      return world.connection.rtt;
    };
    expect(world.connection.rtt).toBe(0);
    login(300);
    expect([world.connection.rtt, pong(100), pong(500), pong(200)]).toEqual([300, 100, 200, 200]);
    world.connection.pong("no time of this page");
    cut();
    world.connection.retryNow();
    expect(world.connection.rtt).toBe(200);
    login(700);
    expect(world.connection.rtt).toBe(700);
    cut();
    world.connection.retryNow();
    login(5); // a guest's list comes by itself
    expect([world.connection.rtt, pong(1000)]).toEqual([700, 1000]);
  });
});
