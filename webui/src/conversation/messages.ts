import { guard, type Open } from "../api/guard";
import * as wire from "../api/wire.gen";
import { begin, firstItems, type List, MAX_ITEMS, MAX_TEXT, type Text } from "../ui/text";

/** The messages of a thread that the page holds: one part without a gap, in order, usually the newest. */

/** Longest argument of a call that a person decides about, in UTF-16 code units: the server's limit. */
export const MAX_ASKED = 1024 * 1024;
/** JSON up to this length is indented, in UTF-16 code units: indentation of deep JSON is many times its length. */
const MAX_INDENTED = 500;

/** Argument is one argument of a call: a text as it is, anything else as JSON. */
export interface Argument {
  name: string;
  value: Text;
}

function valueText(v: unknown): string {
  if (typeof v === "string") return v;
  const flat = JSON.stringify(v) ?? "";
  return flat.length > MAX_INDENTED ? flat : JSON.stringify(v, null, 2);
}

/** argumentsOf lists at most `items` arguments of a call, each of at most `most` UTF-16 code units. */
export function argumentsOf(all: wire.ToolCall["arguments"], items = MAX_ITEMS, most = MAX_TEXT): List<Argument> {
  const list = firstItems(Object.entries(all ?? {}), items);
  return { ...list, items: list.items.map(([name, v]) => ({ name, value: begin(valueText(v), most) })) };
}

/** Message is a message as the page holds it: of a long text or list it has the beginning. */
export type Message = ReturnType<typeof shortened>;

function shortened(m: Open<wire.KeptMessage>) {
  const calls = firstItems(m.tool_calls);
  const results = firstItems(m.tool_results);
  return {
    ...m,
    content: begin(m.content),
    tool_calls: { ...calls, items: calls.items.map((c) => ({ ...c, arguments: argumentsOf(c.arguments) })) },
    tool_results: { ...results, items: results.items.map((r) => ({ ...r, content: begin(r.content) })) },
  };
}
export type ToolCall = Message["tool_calls"]["items"][number];
export type ToolResult = Message["tool_results"]["items"][number];

export const parseMessages = (v: unknown): Message[] =>
  guard(wire.MessageList, v)
    .messages.filter((m) => m.seq > 0)
    .map(shortened);

/** Messages that one question asks for. */
export const PAGE = 50;
/** Messages held, and about how many characters of them: no loading twice, and few enough for a phone. */
export const MAX_HELD = 500;
export const MAX_HELD_CHARS = 4 * 1024 * 1024;

export interface Held {
  list: readonly Message[];
  /** The newest message is among them. Otherwise new ones are not added. */
  tail: boolean;
}

export const nothing: Held = { list: [], tail: true };

/** Range says which messages are asked for, as the query of GET …/messages does. */
export interface Range {
  after: number;
  limit: number;
  newest: boolean;
  archived: boolean;
}

/** newestRange asks for the newest ones behind those that are held. */
export function newestRange(held: Held): Range {
  return { after: held.list.at(-1)?.seq ?? 0, limit: PAGE, newest: true, archived: false };
}

/** olderRange asks for the messages before the held ones, null when there are none: the archived before a summary. */
export function olderRange(held: Held): Range | null {
  const first = held.list[0];
  if (first === undefined) return null;
  const end = first.summary ? first.seq : first.seq - 1;
  if (end < 1) return null;
  const after = Math.max(0, end - PAGE);
  return { after, limit: end - after, newest: false, archived: !!(first.summary || first.archived_by) };
}

const texts = (m: Message): number =>
  m.content.text.length +
  m.tool_results.items.reduce((n, r) => n + r.content.text.length, 0) +
  m.tool_calls.items.reduce((n, c) => n + c.arguments.items.reduce((k, a) => k + a.value.text.length, 0), 0);

/** fitting is how many messages from the beginning of a list may be held: at least one. */
function fitting(list: readonly Message[]): number {
  let chars = 0;
  let n = 0;
  for (const m of list) {
    chars += texts(m);
    if (n > 0 && (n >= MAX_HELD || chars > MAX_HELD_CHARS)) break;
    n++;
  }
  return n;
}

const lastOf = (list: readonly Message[]): readonly Message[] => list.slice(list.length - fitting(list.toReversed()));

/** withNewest adds the messages of newestRange. Behind a gap they replace the held ones. */
export function withNewest(held: Held, got: readonly Message[]): Held {
  const last = held.list.at(-1)?.seq ?? 0;
  const first = got[0];
  if (first === undefined) return { list: held.list, tail: true };
  const list = first.summary || first.seq !== last + 1 ? got : [...held.list, ...got];
  return { list: lastOf(list), tail: true };
}

/** withOlder adds the messages of olderRange. When these are too many, the newest go. */
export function withOlder(held: Held, got: readonly Message[]): Held {
  const first = held.list[0];
  if (first === undefined) return held;
  const before = got.filter((m) => m.seq < first.seq || (first.summary && !m.summary && m.seq === first.seq));
  const list = [...before, ...held.list];
  const n = fitting(list);
  return { list: list.slice(0, n), tail: held.tail && n === list.length };
}

/** hiddenBefore says how many messages are before the held ones, and whether these are archived. */
export function hiddenBefore(held: Held): { count: number; archived: boolean } {
  const range = olderRange(held);
  return range === null
    ? { count: 0, archived: false }
    : { count: range.after + range.limit, archived: range.archived };
}
