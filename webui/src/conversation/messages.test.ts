import { describe, expect, it } from "vitest";
import { restOf } from "../api/requests";
import { MAX_ITEMS, MAX_TEXT } from "../ui/text";
import {
  argumentsOf,
  type Held,
  hiddenBefore,
  MAX_ASKED,
  MAX_HELD,
  MAX_HELD_CHARS,
  type Message,
  newestRange,
  nothing,
  olderRange,
  PAGE,
  parseMessages,
  withNewest,
  withOlder,
} from "./messages";

const range = (from: number, to: number, more: object = {}): Message[] =>
  parseMessages({
    messages: Array.from({ length: to - from + 1 }, (_, i) => ({ seq: from + i, content: "x", ...more })),
  });
const whole = <T>(...items: T[]) => ({ items, left: 0 });
const t = (text: string) => ({ text, left: 0 });
const summary = (upTo: number): Message[] => range(upTo, upTo, { summary: true });
const held = (list: Message[], tail = true): Held => ({ list, tail });
const seqs = (h: Held): string =>
  h.list.map((m) => (m.summary ? `s${m.seq}` : m.archived_by ? `a${m.seq}` : m.seq)).join(" ");

describe("parseMessages", () => {
  it("reads calls, results, archived ones and summaries", () => {
    const [one, two] = parseMessages({
      messages: [
        {
          seq: 3,
          created_at: "2026-01-02T03:04:05Z",
          role: "assistant",
          content: "Listing.",
          tool_calls: [{ id: "c1", name: "bash", arguments: { command: "ls", deep: { a: [1] } } }],
          tool_results: [{ tool_call_id: "c1", content: "x", is_error: true }],
          archived_by: 2,
        },
        { seq: 4, summary: true, content: "[COMPACTED CONTEXT]" },
      ],
    });
    expect(one).toEqual({
      seq: 3,
      created_at: "2026-01-02T03:04:05Z",
      role: "assistant",
      content: t("Listing."),
      tool_calls: whole({
        id: "c1",
        name: "bash",
        arguments: whole({ name: "command", value: t("ls") }, { name: "deep", value: t('{\n  "a": [\n    1\n  ]\n}') }),
      }),
      tool_results: whole({ tool_call_id: "c1", content: t("x"), is_error: true }),
      archived_by: 2,
    });
    expect(two).toMatchObject({ seq: 4, role: "", summary: true, tool_calls: whole() });
  });

  it("never throws and leaves out what is no message", () => {
    expect([null, [], {}, { messages: 3 }, { messages: [null, 1, {}, { seq: "1" }] }].map(parseMessages)).toEqual([
      [],
      [],
      [],
      [],
      [],
    ]);
  });

  it("holds neither long texts nor long lists as a whole", () => {
    const calls = Array.from({ length: MAX_ITEMS + 7 }, () => ({ name: "bash" }));
    const [m] = parseMessages({ messages: [{ seq: 1, content: "x".repeat(MAX_TEXT + 9), tool_calls: calls }] });
    expect([m?.content.text.length, m?.content.left, m?.tool_calls.items.length, m?.tool_calls.left]).toEqual([
      MAX_TEXT,
      9,
      MAX_ITEMS,
      7,
    ]);
  });
});

describe("argumentsOf", () => {
  it("has a call that somebody decides about as a whole", () => {
    const all = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}`, "x"]));
    const asked = argumentsOf({ ...all, command: "y".repeat(256 * 1024) }, Number.POSITIVE_INFINITY, MAX_ASKED);
    expect(asked.items.length).toBe(201);
    expect(asked.items.every((i) => i.value.left === 0)).toBe(true);
  });

  it("does not indent deep JSON, which would be many times as long", () => {
    const deep = `${"[".repeat(1000)}${"]".repeat(1000)}`;
    expect(argumentsOf({ deep: JSON.parse(deep) }).items[0]?.value.text).toBe(deep);
  });
});

describe("newest messages", () => {
  it("are asked for behind those that are held, and follow them", () => {
    expect(newestRange(nothing)).toEqual({ after: 0, limit: PAGE, newest: true, archived: false });
    expect(newestRange(held(range(3, 5)))).toMatchObject({ after: 5 });
    expect(seqs(withNewest(held(range(3, 5)), range(6, 7)))).toBe("3 4 5 6 7");
    expect(seqs(withNewest(held(range(3, 5)), []))).toBe("3 4 5");
  });

  it("take the place of what they do not follow on", () => {
    expect(seqs(withNewest(held(range(3, 5)), range(90, 91)))).toBe("90 91");
    expect(seqs(withNewest(held(range(3, 5)), [...summary(6), ...range(7, 8)]))).toBe("s6 7 8");
    expect(withNewest(held(range(3, 5), false), range(90, 91)).tail).toBe(true);
  });

  it("push the oldest out when there are too many, or too long ones", () => {
    const many = withNewest(held(range(1, MAX_HELD)), range(MAX_HELD + 1, MAX_HELD + 10));
    expect([many.list.length, many.list[0]?.seq, many.tail]).toEqual([MAX_HELD, 11, true]);
    const long = range(1, 100, { content: "x".repeat(2 * MAX_TEXT) });
    const fit = MAX_HELD_CHARS / MAX_TEXT;
    expect(withNewest(nothing, long).list.map((m) => m.seq)).toEqual(range(101 - fit, 100).map((m) => m.seq));
  });
});

describe("older messages", () => {
  it("are asked for up to the first that is held", () => {
    expect(olderRange(nothing)).toBeNull();
    expect(olderRange(held(range(1, 3)))).toBeNull();
    expect(olderRange(held(range(100, 101)))).toEqual({
      after: 99 - PAGE,
      limit: PAGE,
      newest: false,
      archived: false,
    });
    expect(olderRange(held(range(4, 5)))).toMatchObject({ after: 0, limit: 3 });
  });

  it("before a summary are the archived ones, of which it stands for the last", () => {
    const h = held([...summary(6), ...range(7, 8)]);
    expect(olderRange(h)).toEqual({ after: 0, limit: 6, newest: false, archived: true });
    expect(hiddenBefore(h)).toEqual({ count: 6, archived: true });
    const more = withOlder(h, range(3, 6, { archived_by: 1 }));
    expect(seqs(more)).toBe("a3 a4 a5 a6 s6 7 8");
    expect(olderRange(more)).toMatchObject({ after: 0, limit: 2, archived: true });
    expect(hiddenBefore(withOlder(more, range(1, 2, { archived_by: 1 })))).toEqual({ count: 0, archived: false });
  });

  it("may come with the summary, and with some that are held", () => {
    expect(seqs(withOlder(held(range(9, 10)), [...summary(6), ...range(7, 10)]))).toBe("s6 7 8 9 10");
  });

  it("take the place of the newest when there are too many, and then new ones are not added", () => {
    const h = withOlder(held(range(51, 50 + MAX_HELD)), range(1, 50));
    expect([h.list[0]?.seq, h.list.at(-1)?.seq, h.tail]).toEqual([1, MAX_HELD, false]);
  });

  it("are asked for until they reach what is held", () => {
    const part = { after: 10, limit: 5, newest: false, archived: true };
    expect(restOf(part, range(11, 15))).toBeNull();
    expect(restOf(part, range(11, 12))).toEqual({ ...part, after: 12, limit: 3 });
    expect(restOf(part, [])).toBeNull();
    expect(restOf(part, range(9, 10))).toBeNull();
  });
});
