import { count, isFields, text, type Fields } from "../api/wire";

/**
 * The record of a thread: what the harness that drives it wrote down, and which of its calls wait for a person. This file is
 * `GET /api/threads/ID/{messages,timeline,trace,ledger,usage,permissions,approvals}` without any request. As in protocol.ts the
 * server is trusted to be evertty, but not to be of our version; what is in a record is trusted in nothing.
 */

/** Longest text that is held, in UTF-16 code units: a message may have 8 MiB, and nobody reads that in a page. */
export const MAX_TEXT = 64 * 1024;
/** Longest text of a call that somebody decides about: more than the server lets anybody be asked about, so it is whole. */
export const MAX_ASKED = 1024 * 1024;
/** Calls and results of a message, items of a list and arguments of a call that are held. */
export const MAX_ITEMS = 50;

/** Text is the beginning of a text, and how much is left out behind it. */
export interface Text {
  text: string;
  left: number;
}

/** Argument is one argument of a call: a text as it is, anything else as JSON. */
export interface Argument {
  name: string;
  value: Text;
}

/** List is the beginning of a list, and how much is left out behind it. */
export interface List<T> {
  items: readonly T[];
  left: number;
}

export interface ToolCall {
  id: string;
  name: string;
  args: List<Argument>;
}

export interface ToolResult {
  call: string;
  content: Text;
  error: boolean;
}

export interface Message {
  /** Counts all messages of a record from 1, without a gap. That of a summary is that of the last message it stands for. */
  seq: number;
  at: number;
  /** "system", "user", "assistant" or "tool". */
  role: string;
  content: Text;
  calls: List<ToolCall>;
  results: List<ToolResult>;
  /** The number of the compaction that put it behind a summary, 0 for none. */
  archivedBy: number;
  /** It stands for the archived messages. */
  summary: boolean;
}

export interface Evidence {
  category: string;
  source: string;
  summary: string;
  status: string;
  subject: string;
  detail: string;
  command: string;
}

/** Decision is an entry of the timeline. What it does not say is empty; scores are as they were written. */
export interface Decision {
  seq: number;
  at: number;
  kind: string;
  mode: string;
  code: string;
  summary: Text;
  decided: string;
  score: string;
  runnerUp: string;
  runnerUpScore: string;
  next: string;
  stage: string;
  outcome: string;
  clarify: string;
  evidence: List<string>;
  sources: List<Evidence>;
  /** Its other lists by what they are, the empty ones left out. */
  lists: ReadonlyArray<readonly [name: string, items: List<string>]>;
}

export interface Step {
  stage: string;
  outcome: string;
  code: string;
  summary: Text;
  evidence: List<string>;
  sources: List<Evidence>;
}

export interface Timeline {
  /** The newest decisions, in the order in which they were written. */
  decisions: readonly Decision[];
  trace: readonly Step[];
  /** The trace was made from the timeline. */
  derived: boolean;
}

export interface LedgerItem {
  text: Text;
  status: string;
  introduced: string;
  updated: string;
  evidence: List<string>;
}

export interface Ledger {
  assumptions: List<LedgerItem>;
  anchors: List<LedgerItem>;
  boundaries: List<LedgerItem>;
}

export interface Usage {
  input: number;
  output: number;
  cacheCreated: number;
  cacheRead: number;
  toolCalls: number;
  iterations: number;
  turns: number;
}

export interface Approval {
  id: string;
  tool: string;
  args: List<Argument>;
  reason: string;
  /** "pending", "approved", "denied", "used" or "expired". */
  status: string;
  createdAt: number;
  decidedAt: number;
  usedAt: number;
  expiresAt: number;
}

export interface Permissions {
  mode: string;
  /** False while nothing is decided at all. */
  active: boolean;
  /** Rules of the thread and of the server that allow, deny and ask. */
  allow: number;
  deny: number;
  ask: number;
}

const time = (v: unknown): number => {
  const at = typeof v === "string" ? Date.parse(v) : Number.NaN;
  return Number.isFinite(at) && at > 0 ? at : 0;
};

const array = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);

/** begin is a text that is not longer than `most`. It does not end in half a character. */
export function begin(s: string, most = MAX_TEXT): Text {
  if (s.length <= most) return { text: s, left: 0 };
  const end = /[\ud800-\udbff]/.test(s.charAt(most - 1)) ? most - 1 : most;
  return { text: s.slice(0, end), left: s.length - end };
}

function list<T>(v: unknown, parse: (v: unknown) => T | null): List<T> {
  const all = array(v);
  const items = all.slice(0, MAX_ITEMS).map(parse).filter((i): i is T & {} => i !== null);
  return { items, left: Math.max(0, all.length - MAX_ITEMS) };
}

const words = (v: unknown): List<string> => list(v, (s) => (typeof s === "string" && s !== "" ? begin(s, MAX_TEXT).text : null));

/** numeral is a number as text, as exactly as exactJSON has read it. */
const numeral = (v: unknown): string => (typeof v === "number" || isFields(v) ? JSON.stringify(v) : "");

/** JSON up to this length is indented, in UTF-16 code units: indentation of deep JSON is many times its length. */
const MAX_INDENTED = 500;

function valueText(v: unknown): string {
  if (typeof v === "string") return v;
  const flat = JSON.stringify(v) ?? "";
  return flat.length > MAX_INDENTED ? flat : JSON.stringify(v, null, 2);
}

function parseArgs(v: unknown, most: number): List<Argument> {
  const all = isFields(v) ? Object.entries(v) : [];
  return {
    items: all.slice(0, most === MAX_ASKED ? all.length : MAX_ITEMS).map(([name, a]) => ({ name, value: begin(valueText(a), most) })),
    left: most === MAX_ASKED ? 0 : Math.max(0, all.length - MAX_ITEMS),
  };
}

function parseCall(v: unknown): ToolCall | null {
  return isFields(v) ? { id: text(v.id), name: text(v.name), args: parseArgs(v.arguments, MAX_TEXT) } : null;
}

function parseResult(v: unknown): ToolResult | null {
  return isFields(v) ? { call: text(v.tool_call_id), content: begin(text(v.content)), error: v.is_error === true } : null;
}

function parseMessage(v: unknown): Message | null {
  if (!isFields(v) || count(v.seq) === 0) return null;
  return {
    seq: count(v.seq),
    at: time(v.created_at),
    role: text(v.role) || "user",
    content: begin(text(v.content)),
    calls: list(v.tool_calls, parseCall),
    results: list(v.tool_results, parseResult),
    archivedBy: count(v.archived_by),
    summary: v.summary === true,
  };
}

/** parseMessages reads {"messages": […]}; what is not a message is left out. */
export function parseMessages(v: unknown): Message[] {
  return (isFields(v) ? array(v.messages) : []).map(parseMessage).filter((m): m is Message => m !== null);
}

function parseEvidence(v: unknown): Evidence | null {
  if (!isFields(v)) return null;
  const source = text(v.source);
  const command = text(v.command_id);
  return { category: text(v.category), source, summary: text(v.summary), status: text(v.status), subject: text(v.subject), detail: text(v.detail), command: source === `cmd_${command}` ? "" : command };
}

/** The lists of a decision beside its evidence, by the words that head them. */
const LISTS: ReadonlyArray<readonly [name: string, key: string]> = [
  ["Open questions", "unresolved_questions"],
  ["Missing gates", "missing_readiness_gates"],
  ["Signals", "signal_summary"],
  ["Artifacts", "artifact_paths"],
  ["Prompt sections", "prompt_sections"],
];

function parseDecision(f: Fields, seq: number): Decision {
  return {
    seq,
    at: time(f.timestamp),
    kind: text(f.kind),
    mode: text(f.mode),
    code: text(f.reason_code),
    summary: begin(text(f.summary)),
    decided: text(f.decision_kind),
    score: numeral(f.route_score),
    runnerUp: text(f.runner_up_mode),
    runnerUpScore: numeral(f.runner_up_score),
    next: text(f.scheduled_next_mode),
    stage: text(f.policy_stage),
    outcome: text(f.policy_outcome),
    clarify: [text(f.clarify_stage), text(f.clarify_pressure_kind)].filter((s) => s !== "").join(", "),
    evidence: words(f.evidence_summary),
    sources: list(f.evidence_provenance, parseEvidence),
    lists: LISTS.map(([name, key]) => [name, words(f[key])] as const).filter(([, l]) => l.items.length > 0),
  };
}

function parseStep(v: unknown): Step | null {
  if (!isFields(v)) return null;
  return { stage: text(v.stage), outcome: text(v.outcome), code: text(v.decision_code), summary: begin(text(v.decision_summary)), evidence: words(v.evidence_summary), sources: list(v.evidence_provenance, parseEvidence) };
}

/** parseTimeline reads {"first_seq": N, "timeline": […]} and {"derived": …, "completion_trace": […]}. */
export function parseTimeline(timeline: unknown, trace: unknown): Timeline {
  const first = isFields(timeline) ? count(timeline.first_seq) : 0;
  const decisions = (isFields(timeline) ? array(timeline.timeline) : []).flatMap((v, i) => (isFields(v) ? [parseDecision(v, first + i)] : []));
  const t: Fields = isFields(trace) ? trace : {};
  return { decisions, trace: list(t.completion_trace, parseStep).items, derived: t.derived === true };
}

function parseItem(v: unknown): LedgerItem | null {
  if (!isFields(v) || text(v.text) === "") return null;
  return { text: begin(text(v.text)), status: text(v.status), introduced: text(v.introduced_phase), updated: text(v.updated_phase), evidence: words(v.evidence) };
}

/** parseLedger reads a ledger; what is missing is empty. */
export function parseLedger(v: unknown): Ledger {
  const f: Fields = isFields(v) ? v : {};
  return { assumptions: list(f.assumptions, parseItem), anchors: list(f.acceptance_anchors, parseItem), boundaries: list(f.decision_boundaries, parseItem) };
}

/** parseUsage reads totals; what is missing is 0. */
export function parseUsage(v: unknown): Usage {
  const f: Fields = isFields(v) ? v : {};
  return {
    input: count(f.input_tokens),
    output: count(f.output_tokens),
    cacheCreated: count(f.cache_creation_tokens),
    cacheRead: count(f.cache_read_tokens),
    toolCalls: count(f.tool_calls),
    iterations: count(f.iterations),
    turns: count(f.turns),
  };
}

function parseApproval(v: unknown): Approval | null {
  if (!isFields(v) || text(v.id) === "") return null;
  return {
    id: text(v.id),
    tool: text(v.tool),
    args: parseArgs(v.arguments, text(v.status) === "pending" ? MAX_ASKED : MAX_TEXT),
    reason: text(v.reason),
    status: text(v.status),
    createdAt: time(v.created_at),
    decidedAt: time(v.decided_at),
    usedAt: time(v.used_at),
    expiresAt: time(v.expires_at),
  };
}

/** parseApprovals reads {"approvals": […]}, the newest first; what has no id is left out. */
export function parseApprovals(v: unknown): Approval[] {
  return (isFields(v) ? array(v.approvals) : []).map(parseApproval).filter((a): a is Approval => a !== null);
}

/** parsePermissions reads what is permitted in a thread. */
export function parsePermissions(v: unknown): Permissions {
  const f: Fields = isFields(v) ? v : {};
  const counts: Fields = isFields(f.rule_counts) ? f.rule_counts : {};
  return { mode: text(f.mode), active: f.active === true, allow: count(counts.allow), deny: count(counts.deny), ask: count(counts.ask) };
}

interface RawJSON {
  rawJSON?(source: string): unknown;
}

/**
 * exactJSON is JSON.parse, but numbers that a double does not have exactly, or not as they were written, come back from
 * JSON.stringify as they were. A browser that cannot do so (ECMAScript's JSON.parse source text access) gives doubles. It throws a SyntaxError.
 */
export function exactJSON(source: string): unknown {
  const { rawJSON } = JSON as RawJSON;
  if (rawJSON === undefined) return JSON.parse(source);
  const revive = (_key: string, v: unknown, context?: { source?: string }): unknown =>
    typeof v === "number" && context?.source !== undefined && context.source !== String(v) ? rawJSON(context.source) : v;
  return JSON.parse(source, revive as (key: string, v: unknown) => unknown);
}
