import { signal } from "@preact/signals";
import { Backoff } from "./backoff";
import type { ClientMessage } from "./wire";
import type { CommandAuth } from "./wire.gen";

/** Between two pings of a quiet connection, in milliseconds. */
export const PING_MS = 10_000;
/** A connection that brought nothing for this long after a ping is dead, in milliseconds. */
export const PONG_MS = 5_000;
/** The same after the computer slept or the page came back: most likely it is dead, so find out soon. */
export const WAKE_PONG_MS = 2_000;
/** A connection that does not open in this time is given up, in milliseconds. */
export const CONNECT_MS = 8_000;
/** The watchdog checks the clock this often, in milliseconds. */
export const WATCH_MS = 1_000;
/** A longer gap between two looks means that the computer slept or the page was frozen, in milliseconds. */
export const GAP_MS = 5_000;
/** How much of a longer round trip counts at once: one answer may have waited behind output. */
const LONGER = 1 / 4;
const UNAUTHORIZED = 401;
/** Code that a socket closes with which is not, or no longer, logged in. */
export const CLOSE_UNAUTHORIZED = 4401;

export type ConnectionState = "connecting" | "open" | "reconnecting" | "unauthorized";

export interface Status {
  state: ConnectionState;
  /** Attempts since the connection was lost, from 1; 0 when open or never open. */
  attempt: number;
  /** When the next attempt starts, in milliseconds since the epoch; 0 while one is under way. */
  retryAt: number;
}

export interface ConnectionDeps {
  open(): WebSocket;
  /** The page's half of the login, which is the first message of each socket. */
  secret(): string;
  /** The HTTP status of a cheap request, to tell "not logged in" from "not there"; 0 when unreachable. */
  probe(): Promise<number>;
  /** A round trip that was measured before there was a connection, as `rtt`. */
  firstRoundTrip(): number;
  /** What follows the login at once. The server reads it only if the login is right. */
  greeting(): ClientMessage[];
  opened(): void;
  frame(text: string): void;
  random(): number;
}

/**
 * Connection keeps the page's one WebSocket alive: it reconnects with back-off and notices dead links by itself.
 * While not logged in it tries only when asked. Any frame counts as a sign of life, since a pong may be queued
 * behind much output on a slow link.
 */
export class Connection {
  readonly status = signal<Status>({ state: "connecting", attempt: 0, retryAt: 0 });
  private socket: WebSocket | null = null;
  /** See rtt, and whether this connection has measured it. */
  private roundTrip: number;
  private measured = false;
  private readonly backoff: Backoff;
  private heard = false;
  private lookedAt = Date.now();
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private openTimer: ReturnType<typeof setTimeout> | undefined;
  private pongTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly deps: ConnectionDeps) {
    this.backoff = new Backoff(deps.random);
    this.roundTrip = deps.firstRoundTrip();
  }

  /**
   * rtt is how long the server takes to answer, in milliseconds, 0 before it has: as short as the latest answers show
   * it, since an answer also waits behind output. Each connection measures anew, by a ping behind the login.
   */
  get rtt(): number {
    return this.roundTrip;
  }

  /** pong notes the answer to a ping that said `t`. */
  pong(t: unknown): void {
    if (typeof t !== "number") return;
    const sample = performance.now() - t;
    this.roundTrip += (sample - this.roundTrip) * (sample < this.roundTrip || !this.measured ? 1 : LONGER);
    this.measured = true;
  }

  /** start opens the connection and keeps it for the life of the page. Call it once. */
  start(): void {
    setInterval(() => this.ping(PONG_MS), PING_MS);
    setInterval(() => this.watch(), WATCH_MS);
    this.connect();
  }

  /** send does nothing and returns false unless the connection is open: keys typed meanwhile must not arrive later. */
  send(message: ClientMessage): boolean {
    if (this.socket === null || this.status.value.state !== "open") return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** wake is called when the network, the page or the computer came back: check the connection or retry at once. */
  wake(): void {
    if (this.status.value.state === "open") this.ping(WAKE_PONG_MS);
    else this.retryNow();
  }

  /** retryNow starts an attempt unless one is under way or the connection is open. */
  retryNow(): void {
    if (this.socket === null) this.connect();
  }

  /** renew connects again: the browser has another login, and the connection must end with it. */
  renew(): void {
    if (this.socket !== null) this.lose(this.socket, true);
    this.connect();
  }

  private connect(): void {
    clearTimeout(this.retryTimer);
    this.status.value = { ...this.status.value, attempt: this.backoff.attempts, retryAt: 0 };
    const socket = this.deps.open();
    this.socket = socket;
    this.openTimer = setTimeout(() => this.lose(socket, false), CONNECT_MS);
    let asked = 0;
    socket.onopen = () => {
      asked = performance.now();
      this.measured = false;
      socket.send(JSON.stringify({ type: "auth", page: this.deps.secret() } satisfies CommandAuth));
      socket.send(JSON.stringify({ type: "ping", t: asked } satisfies ClientMessage));
      for (const message of this.deps.greeting()) socket.send(JSON.stringify(message));
    };
    socket.onclose = (e?: CloseEvent) => {
      // The server also closes so when the first message took too long: on a slow line the login is good all the same.
      this.lose(socket, this.status.value.state === "open" && e?.code !== CLOSE_UNAUTHORIZED);
    };
    socket.onmessage = (e: MessageEvent<unknown>) => {
      this.heard = true;
      if (this.status.value.state !== "open") this.opened(socket, performance.now() - asked);
      if (typeof e.data === "string") this.deps.frame(e.data);
    };
  }

  /** opened is called at the first frame, so long after the login: a socket that is not logged in brings none. */
  private opened(socket: WebSocket, answered: number): void {
    if (this.socket !== socket) return;
    clearTimeout(this.openTimer);
    this.roundTrip = Math.max(this.roundTrip, answered); // a guest's first frame is no answer
    this.backoff.reset();
    this.status.value = { state: "open", attempt: 0, retryAt: 0 };
    this.deps.opened();
  }

  /** lose gives a socket up, whatever state it is in, and plans the next attempt. Later events of it are ignored. */
  private lose(socket: WebSocket, wasOpen: boolean): void {
    if (this.socket !== socket) return;
    this.socket = null;
    clearTimeout(this.openTimer);
    clearTimeout(this.pongTimer);
    socket.onopen = socket.onclose = socket.onmessage = null;
    socket.close();
    const delay = this.backoff.next();
    const state = this.status.value.state === "unauthorized" ? "unauthorized" : "reconnecting";
    this.status.value = { state, attempt: this.backoff.attempts, retryAt: Date.now() + delay };
    this.retryTimer = setTimeout(() => this.connect(), delay);
    if (!wasOpen) void this.findReason();
  }

  /** findReason finds out why a socket did not open: browsers do not tell a page the status of a refused upgrade. */
  private async findReason(): Promise<void> {
    const code = await this.deps.probe();
    if (this.status.value.state === "open") return;
    if (code === UNAUTHORIZED) this.giveUp();
    else this.status.value = { ...this.status.value, state: "reconnecting" };
  }

  /** giveUp stops trying: without a login another attempt fails too. */
  private giveUp(): void {
    clearTimeout(this.retryTimer);
    this.backoff.reset();
    this.status.value = { state: "unauthorized", attempt: 0, retryAt: 0 };
  }

  private ping(patience: number): void {
    const socket = this.socket;
    const sentAt = Date.now();
    if (socket === null || !this.send({ type: "ping", t: performance.now() })) return;
    this.heard = false;
    clearTimeout(this.pongTimer);
    this.pongTimer = setTimeout(() => this.checkPong(socket, sentAt, patience), patience);
  }

  /** checkPong drops a socket that stayed silent. A timer that fires late says nothing: the page itself was frozen. */
  private checkPong(socket: WebSocket, sentAt: number, patience: number): void {
    if (this.socket !== socket || this.heard) return;
    if (Date.now() - sentAt > patience + GAP_MS) this.ping(WAKE_PONG_MS);
    else this.lose(socket, true);
  }

  private watch(): void {
    const now = Date.now();
    const gap = now - this.lookedAt;
    this.lookedAt = now;
    if (gap > GAP_MS) this.wake();
  }
}
