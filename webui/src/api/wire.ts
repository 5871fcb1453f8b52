import { fields, guard, isFields, type Open, type Shape } from "./guard";
import * as wire from "./wire.gen";

/** What the page gets from the server, in the wire's own names: its types as a newer server may fill them. */

export type Terminal = Open<wire.Terminal>;
export type Exit = Open<wire.Exit>;
/** Session of a thread that has one. */
export type Session = Open<wire.ThreadSession> & { session_id: string; status: string };
export type ThreadTerminal = Open<wire.ThreadTerminal>;
export type Lease = Open<wire.Lease>;
export type ThreadEvent = Open<wire.ThreadEvent>;
export type Evidence = Open<wire.Provenance>;
export type LedgerItem = Open<wire.LedgerItem>;
export type Approval = Open<wire.Approval>;
export type Share = Open<wire.Share>;
export type MadeShare = Open<wire.MadeShare>;
export type Shared = Open<wire.Shared>;
export type Permissions = Open<wire.Permissions>;
/** Present is one who watches a terminal. */
export type Present = Open<wire.PresentViewer>;
export type { Clipboard, Ledger, Size, TraceEntry, Usage } from "./wire.gen";

// The page's one socket. Its events and commands name their terminal.

/** Largest number of columns or rows the server accepts, in cells. */
export const MAX_CELLS = 1000;

/** Events about a terminal, which they name, and the others. */
const ABOUT = {
  snapshot: wire.EventSnapshot,
  resume: wire.EventResume,
  data: wire.EventData,
  resize: wire.EventResize,
  meta: wire.EventMeta,
  exit: wire.EventExit,
  kicked: wire.EventKicked,
};
const OTHERS = { list: wire.EventList, error: wire.EventError, pong: wire.EventPong };
const EVENTS: Readonly<Record<string, Shape<unknown>>> = { ...ABOUT, ...OTHERS };

/** Named is an event of a shape, whose name tells it from the others. */
type Named<Name, S> = S extends Shape<infer Event> ? Omit<Open<Event>, "event" | "pty"> & { event: Name } : never;
type About = { [Name in keyof typeof ABOUT]: Named<Name, (typeof ABOUT)[Name]> & { pty: string } };
type Others = { [Name in keyof typeof OTHERS]: Named<Name, (typeof OTHERS)[Name]> & { pty?: string } };
export type ServerEvent = About[keyof About] | Others[keyof Others];
export type Snapshot = About["snapshot"];
/** Meta says what changed about a terminal; what did not change is absent. */
export type Meta = About["meta"];
export type ServerError = Others["error"];

type Command =
  | wire.CommandAttach
  | wire.CommandDetach
  | wire.CommandFocus
  | wire.CommandHide
  | wire.CommandShow
  | wire.CommandColors
  | wire.CommandInput
  | wire.CommandResize
  | wire.CommandKeys
  | wire.CommandPaste
  | wire.CommandControl
  | wire.CommandHistory;
/** ClientMessage is a command of the page, for the terminal that it names, or a ping. */
export type ClientMessage = (Command & { pty: string }) | wire.CommandPing;

const isCells = (n: number): boolean => n >= 1 && n <= MAX_CELLS;
const isSize = ({ cols, rows }: wire.Size): boolean => isCells(cols) && isCells(rows);

/** parseEvent reads one frame; null for anything this page does not understand. */
export function parseEvent(frame: string): ServerEvent | null {
  const given = parseJSON(frame);
  const name = fields(given).event;
  const shape = typeof name === "string" && Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined;
  if (shape === undefined) return null;
  const event = guard(shape, given) as ServerEvent;
  switch (event.event) {
    case "list":
      return Array.isArray(fields(given).items) ? { ...event, items: event.items.filter((t) => t.id !== "") } : null;
    case "error":
    case "pong":
      return event;
    case "snapshot":
    case "resume":
    case "resize":
      if (!isSize(event)) return null;
      break;
    case "meta":
      if (event.size && !isSize(event.size)) delete event.size;
      if (Array.isArray(event.presence)) event.presence = event.presence.map((p) => guard(wire.PresentViewer, p));
      else if (!Number.isFinite(event.presence)) delete event.presence;
  }
  return event.pty ? event : null;
}

function parseJSON(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return null;
  }
}

// Documents. Those that are about one thing are null without its id: nothing can be done with them.

/** parseTerminal reads one terminal as the server lists it. */
export const parseTerminal = (v: unknown): Terminal | null => identified(guard(wire.Terminal, v), "id");
export function parseSession(v: unknown): Session | null {
  const s = guard(wire.ThreadSession, v);
  return s.session_id && s.status ? { ...s, session_id: s.session_id, status: s.status } : null;
}

export const parseTerminals = (v: unknown): ThreadTerminal[] =>
  guard(wire.ThreadTerminals, v).terminals.filter((t) => t.terminal_id !== "");
export const parseLease = (v: unknown): Lease | null => identified(guard(wire.Lease, v), "lease_id");

/** parseThreadEvent reads the data of one event. */
export const parseThreadEvent = (data: string): ThreadEvent | null =>
  identified(guard(wire.ThreadEvent, parseJSON(data)), "type");

const identified = <T>(v: T, key: keyof T): T | null => (v[key] ? v : null);

/** Decision is an entry of the timeline with its number, and its scores as they were written. */
export type Decision = Open<wire.TimelineEntry> & { seq: number; score: string; runnerUp: string };

export interface Timeline {
  /** The newest decisions, in the order in which they were written. */
  decisions: readonly Decision[];
  trace: readonly wire.TraceEntry[];
  /** The trace was made from the timeline. */
  derived: boolean;
}

/** numeral is a number of exactJSON as it was written, "" for none. */
const numeral = (v: unknown): string => (typeof v === "number" || isFields(v) ? JSON.stringify(v) : "");

/** parseTimeline reads a timeline, whose entries are numbered from `first_seq`, and its trace. */
export function parseTimeline(timeline: unknown, trace: unknown): Timeline {
  const { first_seq } = guard(wire.Timeline, timeline);
  const entries = fields(timeline).timeline;
  const numbered = (v: unknown, i: number): Decision[] => {
    if (!isFields(v)) return [];
    const scores = { score: numeral(v.route_score), runnerUp: numeral(v.runner_up_score) };
    return [{ ...guard(wire.TimelineEntry, v), ...scores, seq: first_seq + i }];
  };
  const { completion_trace, derived } = guard(wire.Trace, trace);
  return { decisions: Array.isArray(entries) ? entries.flatMap(numbered) : [], trace: completion_trace, derived };
}

export const parseApproval = (v: unknown): Approval | null => identified(guard(wire.Approval, v), "id");

/** byAge orders approvals, the oldest first. */
export const byAge = (a: Approval, b: Approval): number => time(a.created_at) - time(b.created_at);

/** parseApprovals reads approvals, the newest first. */
export const parseApprovals = (v: unknown): Approval[] => guard(wire.Approvals, v).approvals.filter((a) => a.id !== "");

/** time is an instant of the server in milliseconds since the epoch, 0 for none. */
export function time(v: string | null | undefined): number {
  const at = Date.parse(v ?? "");
  return Number.isFinite(at) && at > 0 ? at : 0;
}
