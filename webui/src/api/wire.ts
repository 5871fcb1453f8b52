import {
  all,
  array,
  begin,
  count,
  counts,
  type Decoded,
  each,
  field,
  fields,
  flag,
  identified,
  isFields,
  type List,
  long,
  MAX_ITEMS,
  MAX_TEXT,
  nullable,
  numeral,
  object,
  some,
  type Text,
  text,
  textOr,
  texts,
  time,
  times,
} from "./decode";
import type * as server from "./wire.gen";

/**
 * What the server says, in the wire's own names: the frames of `GET /ws`, the documents below `/api/threads/ID` and the
 * events of a thread. Times are milliseconds since the epoch, 0 for none. Types follow from the decoders.
 */

// Terminals.

const exit = object({ code: nullable((v) => typeof v === "number", Number), signal: text, reason: text });
export type Exit = Decoded<typeof exit>;

/** parseInfo reads one terminal as the server lists it; null without an id. Its state may be one of a newer server. */
export const parseInfo = identified("id", {
  ...texts("id", "name", "session", "cwd", "title"),
  ...counts("cols", "rows", "viewers", "bell_count"),
  cmd: each(text),
  /** "running", "exited", "lost" or "restored". */
  state: textOr("running"),
  exit: nullable(isFields, exit),
});
export type Info = NonNullable<ReturnType<typeof parseInfo>>;

export type { Clipboard, Size } from "./wire.gen";

/** Largest number of columns or rows the server accepts, in cells. */
export const MAX_CELLS = 1000;

function size(v: unknown): server.Size | null {
  const { cols, rows } = fields(v);
  const s = { cols: count(cols), rows: count(rows) };
  return Math.min(s.cols, s.rows) > 0 && Math.max(s.cols, s.rows) <= MAX_CELLS ? s : null;
}

/** Of is an event of a terminal as the page's one socket brings it: it names the terminal. */
type Of<E> = Omit<E, "event" | "pty"> & { pty: string };

/** Snapshot's `unicode` and `reason` may be of a newer server. */
export type Snapshot = { event: "snapshot"; unicode: string; reason: string } & Omit<
  Of<server.EventSnapshot>,
  "unicode" | "reason"
>;

/** Meta says what changed about a terminal; what did not change is absent. */
export type Meta = { event: "meta"; notify?: Required<server.Notification> } & Omit<
  Of<server.EventMeta>,
  "owner" | "notify"
>;

export type ServerEvent =
  | { event: "list"; items: Info[] }
  | Snapshot
  | ({ event: "resume" } & Of<server.EventResume>)
  | ({ event: "data" } & Of<server.EventData>)
  | ({ event: "resize" } & Of<server.EventResize>)
  | Meta
  | { event: "exit"; pty: string; seq: number; exit: Exit }
  | { event: "error"; pty: string | null; error: string; code: string }
  | { event: "pong" };

/** To is a command for a terminal: on the page's one socket it names the terminal. */
type To<C> = C & { pty: string };

export type ClientMessage =
  | server.CommandAttach
  | server.CommandDetach
  | To<server.CommandFocus>
  | To<server.CommandHide>
  | To<server.CommandShow>
  | To<server.CommandColors>
  | To<server.CommandInput>
  | To<server.CommandResize>
  | To<server.CommandKeys>
  | To<server.CommandPaste>
  | server.CommandPing;

function parseMeta(f: Record<string, unknown>, pty: string): Meta {
  const s = size(f.size);
  return {
    event: "meta",
    pty,
    ...(typeof f.title === "string" && { title: f.title }),
    ...(typeof f.cwd === "string" && { cwd: f.cwd }),
    ...(typeof f.viewers === "number" && { viewers: count(f.viewers) }),
    ...(f.bell === true && { bell: true }),
    ...(isFields(f.notify) && { notify: { title: text(f.notify.title), body: text(f.notify.body) } }),
    ...(s && { size: s }),
    ...(isFields(f.clipboard) && {
      clipboard: { selection: text(f.clipboard.selection), data_b64: text(f.clipboard.data_b64) },
    }),
  };
}

function parseTerminalEvent(f: Record<string, unknown>, pty: string): ServerEvent | null {
  const s = size(f);
  const seq = count(f.seq);
  const data = text(f.data);
  switch (f.event) {
    case "snapshot":
      return s && { event: "snapshot", pty, ...s, unicode: text(f.unicode), reason: text(f.reason), seq, data };
    case "resume":
    case "resize":
      return s && { event: f.event, pty, ...s, seq };
    case "data":
      return { event: "data", pty, seq, data };
    case "meta":
      return parseMeta(f, pty);
    case "exit":
      return { event: "exit", pty, seq, exit: exit(f) };
    default:
      return null;
  }
}

/** json is what a text says as JSON, null for what is none. */
function json(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return null;
  }
}

/** parseEvent reads one frame; null for anything this page does not understand. */
export function parseEvent(frame: string): ServerEvent | null {
  const f = fields(json(frame));
  const pty = text(f.pty);
  if (f.event === "list") return Array.isArray(f.items) ? { event: "list", items: each(parseInfo)(f.items) } : null;
  if (f.event === "pong") return { event: "pong" };
  if (f.event === "error") return { event: "error", pty: pty || null, error: text(f.error), code: text(f.code) };
  return pty === "" ? null : parseTerminalEvent(f, pty);
}

// Threads: what lasts of a session of terminals.

export const parseSession = identified("session_id", {
  /** Why it was closed: idle_timeout, max_duration, budget, destroyed, superseded, thread_deleted or provider. */
  ...texts("session_id", "close_reason"),
  ...times("created_at", "last_active_at", "expires_at", "ended_at"),
  /** "active", "idle", "paused", "closed" or "failed"; a newer server may say more. */
  status: textOr("active"),
});
export type Session = NonNullable<ReturnType<typeof parseSession>>;

/** Variables and their values, by name. */
const variables = (v: unknown): [name: string, value: string][] =>
  Object.entries(fields(v))
    .map(([name, value]): [string, string] => [name, text(value)])
    .sort(([a], [b]) => (a < b ? -1 : 1));

const terminal = identified("terminal_id", {
  /** Its kind is "pty" or "shell". */
  ...texts("terminal_id", "kind", "name", "cwd"),
  env_delta: variables,
  env_unset: each(text),
  version: count,
  /** Requests that name no terminal mean this one. */
  active: flag,
});
export type ThreadTerminal = NonNullable<ReturnType<typeof terminal>>;

export const parseTerminals = field("terminals", each(terminal));

const lease = identified("lease_id", {
  /** The observed state is "running", "paused", "dead" or "unknown". */
  ...texts("lease_id", "provider_name", "desired_state", "observed_state", "last_error"),
  instance: object({ ...texts("instance_id", "state"), started_at: time }),
  updated_at: time,
});
export type Lease = NonNullable<ReturnType<typeof lease>>;

export function parseLease(v: unknown): Lease | null {
  const l = lease(v);
  return l && { ...l, observed_state: l.observed_state || l.instance.state || "unknown" };
}

const threadEvent = identified("type", {
  type: text,
  /** Its number, 0 for one that is not kept. */
  seq: count,
  at: time,
  /** What its type does not have is empty. */
  data: object({
    ...texts("session_id", "terminal_id", "lease_id", "approval_id", "reason"),
    cwd: nullable((v) => typeof v === "string", text),
    version: count,
    expires_at: time,
  }),
});
export type ThreadEvent = NonNullable<ReturnType<typeof threadEvent>>;

/** parseThreadEvent reads the data of one event; null for what is none. */
export const parseThreadEvent = (data: string): ThreadEvent | null => threadEvent(json(data));

// The conversation of a thread, and which of its calls wait for a person. Its texts are of anybody: none is trusted.

/**
 * Longest text of a call that somebody decides about: more than the server lets anybody be asked about, so it is
 * whole.
 */
const MAX_ASKED = 1024 * 1024;
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

function args(v: unknown, items = MAX_ITEMS, most = MAX_TEXT): List<Argument> {
  const all = Object.entries(fields(v));
  return {
    items: all.slice(0, items).map(([name, a]) => ({ name, value: begin(valueText(a), most) })),
    left: Math.max(0, all.length - items),
  };
}

const words = some((v) => begin(text(v)).text || null);

const call = object({ id: text, name: text, arguments: (v) => args(v) });
const result = object({ tool_call_id: text, content: long, is_error: flag });
export type ToolCall = Decoded<typeof call>;
export type ToolResult = Decoded<typeof result>;

const message = identified("seq", {
  /**
   * Counts all messages of a conversation from 1, without a gap. A summary has that of the last message it stands
   * for.
   */
  seq: count,
  created_at: time,
  /** "system", "user", "assistant" or "tool". */
  role: textOr("user"),
  content: long,
  tool_calls: some(nullable(isFields, call)),
  tool_results: some(nullable(isFields, result)),
  /** The number of the compaction that put it behind a summary, 0 for none. */
  archived_by: count,
  /** It stands for the archived messages. */
  summary: flag,
});
export type Message = NonNullable<ReturnType<typeof message>>;

export const parseMessages = field("messages", each(message));

const evidence = object(texts("category", "source", "summary", "status", "subject", "detail", "command_id"));
export type Evidence = Decoded<typeof evidence>;

const evidenceList = some(nullable(isFields, evidence));

/** What a decision does not say is empty. */
const decision = object({
  ...texts("kind", "mode", "reason_code", "decision_kind", "runner_up_mode", "scheduled_next_mode"),
  ...texts("policy_stage", "policy_outcome", "clarify_stage", "clarify_pressure_kind"),
  timestamp: time,
  summary: long,
  route_score: numeral,
  runner_up_score: numeral,
  evidence_summary: words,
  evidence_provenance: evidenceList,
  ...all(
    words,
    "unresolved_questions",
    "missing_readiness_gates",
    "signal_summary",
    "artifact_paths",
    "prompt_sections",
  ),
});
/** Decision is an entry of the timeline, with its number. */
export type Decision = Decoded<typeof decision> & { seq: number };

const step = object({
  ...texts("stage", "outcome", "decision_code"),
  decision_summary: long,
  evidence_summary: words,
  evidence_provenance: evidenceList,
});
export type Step = Decoded<typeof step>;

export interface Timeline {
  /** The newest decisions, in the order in which they were written. */
  decisions: readonly Decision[];
  trace: readonly Step[];
  /** The trace was made from the timeline. */
  derived: boolean;
}

/** parseTimeline reads {"first_seq": N, "timeline": […]} and {"derived": …, "completion_trace": […]}. */
export function parseTimeline(timeline: unknown, trace: unknown): Timeline {
  const first = count(fields(timeline).first_seq);
  const number = (d: unknown, i: number): Decision[] => (isFields(d) ? [{ ...decision(d), seq: first + i }] : []);
  return {
    decisions: array(fields(timeline).timeline).flatMap(number),
    trace: field("completion_trace", some(nullable(isFields, step)))(trace).items,
    derived: flag(fields(trace).derived),
  };
}

const ledgerItem = object({ ...texts("status", "introduced_phase", "updated_phase"), text: long, evidence: words });
export type LedgerItem = Decoded<typeof ledgerItem>;

const ledgerItems = some((v) => (text(fields(v).text) === "" ? null : ledgerItem(v)));

export const parseLedger = object(all(ledgerItems, "assumptions", "acceptance_anchors", "decision_boundaries"));
export type Ledger = Decoded<typeof parseLedger>;

export const parseUsage = object({
  ...counts("turns", "iterations", "tool_calls", "input_tokens", "output_tokens"),
  ...counts("cache_creation_tokens", "cache_read_tokens"),
});
export type Usage = Decoded<typeof parseUsage>;

const approval = identified("id", {
  /** Its status is "pending", "approved", "denied", "used" or "expired". */
  ...texts("id", "tool", "reason", "status"),
  ...times("created_at", "decided_at", "used_at", "expires_at"),
  arguments: (v) => args(v),
  /** Variables whose values are hidden, and how long these are, in bytes. */
  hidden: (v) => Object.entries(fields(v)).map(([name, bytes]) => `${name}=***(${Number(bytes)})`),
});
export type Approval = NonNullable<ReturnType<typeof approval>>;

/** wholeApproval has the arguments of a call that waits as a whole: somebody decides about it. */
export function wholeApproval(v: unknown): Approval | null {
  const a = approval(v);
  return a?.status === "pending"
    ? { ...a, arguments: args(fields(v).arguments, Number.POSITIVE_INFINITY, MAX_ASKED) }
    : a;
}

/** parseApprovals reads {"approvals": […]}, the newest first. */
export const parseApprovals = field("approvals", each(wholeApproval));

export const parsePermissions = object({
  mode: text,
  /** False while nothing is decided at all. */
  active: flag,
  /** Rules of the thread and of the server. */
  rule_counts: object(counts("allow", "deny", "ask")),
});
export type Permissions = Decoded<typeof parsePermissions>;

/** parseProviders reads what providers can do. What one does not say is tried: the server's refusal is in words. */
export const parseProviders = field(
  "types",
  each(identified("name", { name: text, can_pause: (v) => v !== false, can_resume: (v) => v !== false })),
);
