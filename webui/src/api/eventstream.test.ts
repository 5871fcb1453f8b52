import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { EventStream } from "./eventstream";

/** The server's end of one stream. */
let server: ReadableStreamDefaultController<Uint8Array>;
let status = 200;
let asked: RequestInit | undefined;

beforeEach(() => {
  status = 200;
  vi.stubGlobal("location", { pathname: "/" });
  vi.stubGlobal("window", { localStorage: { getItem: () => "s3cret" } });
  vi.stubGlobal("fetch", (_url: string, init: RequestInit) => {
    asked = init;
    const body = new ReadableStream<Uint8Array>({
      start: (c) => {
        server = c;
      },
    });
    init.signal?.addEventListener("abort", () => server.error(new DOMException("closed", "AbortError")));
    return Promise.resolve(new Response(body, { status }));
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

function open(): { stream: EventStream; heard: string[] } {
  const stream = new EventStream("http://127.0.0.1/events");
  const heard: string[] = [];
  stream.onopen = () => heard.push("open");
  stream.onerror = () => heard.push("error");
  for (const type of ["a", "message"])
    stream.addEventListener(type, (e) => heard.push(`${type} ${(e as MessageEvent<string>).data}`));
  return { stream, heard };
}

const send = (text: string): void => server.enqueue(new TextEncoder().encode(text));

it("says who it is and gives events, however they come", async () => {
  const { heard } = open();
  const text =
    ': heartbeat\n\nevent: a\nid: 1\ndata: {"x":"ä"}\n\ndata:b\ndata: c\n\nevent: a\n\nevent: other\ndata: d\n\n';
  for (const byte of new TextEncoder().encode(text)) server.enqueue(new Uint8Array([byte]));
  send("event: a\ndata: no");
  server.close();
  await vi.waitFor(() => expect(heard).toEqual(["open", 'a {"x":"ä"}', "message b\nc", "error"]));
  expect(new Headers(asked?.headers).get("Evertty-Page")).toBe("s3cret");
});

it.each([401, 503])("is told once that it is refused: %i", async (refusal) => {
  status = refusal;
  const { heard } = open();
  await vi.waitFor(() => expect(heard).toEqual(["error"]));
});

it("says nothing after its close", async () => {
  const { stream, heard } = open();
  await vi.waitFor(() => expect(heard).toEqual(["open"]));
  send("event: a\ndata: 1\n\n");
  stream.close();
  await new Promise((done) => setTimeout(done));
  expect(heard).toEqual(["open"]);
});
