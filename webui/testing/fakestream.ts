import { vi } from "vitest";
import type { EventStream } from "../src/api/eventstream";
import { Feed } from "../src/api/feed";

/** FakeStream is the server's end of one event stream, for tests. */
export class FakeStream extends EventTarget {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  closed = false;

  constructor(
    readonly thread: string,
    readonly since: number | null,
  ) {
    super();
  }

  close(): void {
    this.closed = true;
  }

  /** send sends an event about session s1 and terminal t1, unless `data` says otherwise. */
  send(seq: number, type: string, data: object = {}): void {
    const event = { seq, type, data: { session_id: "s1", terminal_id: "t1", ...data } };
    this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(event) }));
  }
}

/** FakeServer has the streams that a feed opened. */
export class FakeServer {
  streams: FakeStream[] = [];
  readonly feed = new Feed({
    events: (thread, since) => {
      const stream = new FakeStream(thread, since);
      this.streams.push(stream);
      return stream as unknown as EventStream;
    },
    random: () => 0,
  });

  get stream(): FakeStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error("no stream was opened");
    return stream;
  }

  /** open is how many streams are open. */
  open(): number {
    return this.streams.filter((s) => !s.closed).length;
  }
}

/** pass lets the fake time pass, in milliseconds. */
export const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
