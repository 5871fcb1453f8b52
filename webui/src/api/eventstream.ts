import { credentials } from "./credential";

/**
 * EventStream reads Server-Sent Events (WHATWG HTML, 9.2) as an EventSource does, but it can say who it is, and it does
 * not connect again by itself. Lines end with LF, as the server writes them; ids are not kept.
 */
export class EventStream extends EventTarget {
  onopen: (() => void) | null = null;
  /** Called once, when the stream could not be opened or has ended; not after close. */
  onerror: (() => void) | null = null;
  private readonly end = new AbortController();

  constructor(url: string) {
    super();
    void this.read(url);
  }

  close(): void {
    this.end.abort();
  }

  private async read(url: string): Promise<void> {
    const { signal } = this.end;
    try {
      const headers = { ...credentials(), Accept: "text/event-stream" };
      const { ok, body } = await fetch(url, { headers, signal, cache: "no-store" });
      if (ok && body !== null && !signal.aborted) {
        this.onopen?.();
        await this.take(body);
      }
    } catch {
      // The server is gone, or the stream was closed.
    }
    if (!signal.aborted) this.onerror?.();
    this.end.abort(); // the rest of a refused reply
  }

  private async take(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      text += piece.value;
      if (!piece.value.includes("\n")) continue; // a long event: no search for its end in each piece
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) this.send(event);
    }
  }

  private send(event: string): void {
    const values = (field: string): string[] =>
      event
        .split("\n")
        .filter((line) => line.startsWith(`${field}:`))
        .map((line) => line.slice(field.length + 1).replace(/^ /, ""));
    const data = values("data");
    if (data.length === 0 || this.end.signal.aborted) return;
    this.dispatchEvent(new MessageEvent(values("event").at(-1) ?? "message", { data: data.join("\n") }));
  }
}
