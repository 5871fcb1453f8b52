import { count, isFields, text, type Fields } from "../api/wire";

/**
 * A thread is the durable side of a session of terminals: its policy window ("session"), its terminals' state and where
 * their processes run ("lease"). This file is `GET /api/threads/ID/{session,terminals,lease}` and the events about it,
 * without any request. As in protocol.ts the server is trusted to be evertty, but not to be of our version.
 */

/** Times are milliseconds since the epoch, 0 for none. */
export interface SessionDoc {
  id: string;
  /** "active", "idle", "paused", "closed" or "failed"; a newer server may say more. */
  status: string;
  createdAt: number;
  lastActiveAt: number;
  expiresAt: number;
  endedAt: number;
  /** Why it was closed: idle_timeout, max_duration, budget, destroyed, superseded, thread_deleted or provider. */
  closeReason: string;
}

export interface TerminalDoc {
  id: string;
  /** "pty" or "shell". */
  kind: string;
  name: string;
  cwd: string;
  env: ReadonlyArray<readonly [name: string, value: string]>;
  unset: readonly string[];
  version: number;
  /** The one that requests without a terminal's name mean. */
  active: boolean;
}

export interface LeaseDoc {
  id: string;
  provider: string;
  instance: string;
  startedAt: number;
  updatedAt: number;
  desired: string;
  /** "running", "paused", "dead" or "unknown". */
  observed: string;
  lastError: string;
}

export interface Documents {
  session: SessionDoc | null;
  terminals: readonly TerminalDoc[];
  lease: LeaseDoc | null;
  /** What to add to this computer's clock for the server's, in milliseconds. */
  clock: number;
}

/** Notice is something about a session that a person has to be told: it ends soon, or (over) it has ended in front of them. */
export interface Notice {
  session: string;
  reason: string;
  /** When it ends, in milliseconds since the epoch. */
  at: number;
  over: boolean;
  /** The user has read it; the same one is not shown again. */
  dismissed: boolean;
}

/** Thread is what the page knows about one. It is never changed in place. */
export interface Thread extends Documents {
  notice: Notice | null;
}

export const unknownThread: Thread = { session: null, terminals: [], lease: null, clock: 0, notice: null };

/** isLive says whether a session in this status still lets processes live. */
export function isLive(status: string): boolean {
  return status === "active" || status === "idle" || status === "paused";
}

const time = (v: unknown): number => {
  const at = typeof v === "string" ? Date.parse(v) : Number.NaN;
  return Number.isFinite(at) && at > 0 ? at : 0;
};

/** parseSession reads a session document; null when it has no id. */
export function parseSession(v: unknown): SessionDoc | null {
  if (!isFields(v) || text(v.session_id) === "") return null;
  return {
    id: text(v.session_id),
    status: text(v.status) || "active",
    createdAt: time(v.created_at),
    lastActiveAt: time(v.last_active_at),
    expiresAt: time(v.expires_at),
    endedAt: time(v.ended_at),
    closeReason: text(v.close_reason),
  };
}

function env(v: unknown): [string, string][] {
  if (!isFields(v)) return [];
  return Object.entries(v)
    .map(([name, value]): [string, string] => [name, text(value)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function parseTerminal(v: unknown): TerminalDoc | null {
  if (!isFields(v) || text(v.terminal_id) === "") return null;
  return {
    id: text(v.terminal_id),
    kind: text(v.kind),
    name: text(v.name),
    cwd: text(v.cwd),
    env: env(v.env_delta),
    unset: Array.isArray(v.env_unset) ? v.env_unset.map(text) : [],
    version: count(v.version),
    active: v.active === true,
  };
}

/** parseTerminals reads {"terminals": […]}; what is not a terminal is left out. */
export function parseTerminals(v: unknown): TerminalDoc[] {
  const list = isFields(v) && Array.isArray(v.terminals) ? v.terminals : [];
  return list.map(parseTerminal).filter((t): t is TerminalDoc => t !== null);
}

/** parseLease reads a lease document; null when it has no id. */
export function parseLease(v: unknown): LeaseDoc | null {
  if (!isFields(v) || text(v.lease_id) === "") return null;
  const instance: Fields = isFields(v.instance) ? v.instance : {};
  return {
    id: text(v.lease_id),
    provider: text(v.provider_name),
    instance: text(instance.instance_id),
    startedAt: time(instance.started_at),
    updatedAt: time(v.updated_at),
    desired: text(v.desired_state),
    observed: text(v.observed_state) || text(instance.state) || "unknown",
    lastError: text(v.last_error),
  };
}

/** ThreadEvent is one event of a thread; what its type does not have is empty. */
export interface ThreadEvent {
  type: string;
  /** Its number, 0 for one that is told and not kept. */
  seq: number;
  at: number;
  session: string;
  terminal: string;
  lease: string;
  reason: string;
  /** The new working directory; null when the event is not about one. */
  cwd: string | null;
  version: number;
  /** The call that somebody is asked about, or has decided. */
  approval: string;
  expiresAt: number;
}

/** parseThreadEvent reads the data of one event; null for what is none. It never throws. */
export function parseThreadEvent(data: string): ThreadEvent | null {
  let f: unknown;
  try {
    f = JSON.parse(data);
  } catch {
    return null;
  }
  if (!isFields(f) || text(f.type) === "") return null;
  const d: Fields = isFields(f.data) ? f.data : {};
  return {
    type: text(f.type),
    seq: count(f.seq),
    at: time(f.at),
    session: text(d.session_id),
    terminal: text(d.terminal_id),
    lease: text(d.lease_id),
    reason: text(d.reason),
    cwd: typeof d.cwd === "string" ? d.cwd : null,
    version: count(d.version),
    approval: text(d.approval_id),
    expiresAt: time(d.expires_at),
  };
}

/** Which status an event of a session leads to. The warning leads to idle only when it is about idleness. */
const STATUS_AFTER: Record<string, string> = {
  "session.active": "active",
  "session.resumed": "active",
  "session.paused": "paused",
  "session.closed": "closed",
  "session.failed": "failed",
};

/** What was seen of compute, by the event that tells it. */
const OBSERVED_AFTER: Record<string, string> = {
  "lease.running": "running",
  "lease.paused": "paused",
  "lease.dead": "dead",
  "lease.unknown": "unknown",
};

/** moved applies a new version of a terminal's state; an older one changes nothing. */
function moved(t: Thread, e: ThreadEvent): Thread {
  const terminals = t.terminals.map((one) => (one.id === e.terminal && e.version > one.version ? { ...one, cwd: e.cwd ?? one.cwd, version: e.version } : one));
  return { ...t, terminals };
}

function expiring(t: Thread, e: ThreadEvent): Thread {
  const notice = { session: e.session, reason: e.reason, at: e.expiresAt, over: false, dismissed: false };
  if (t.session === null || t.session.id !== e.session) return { ...t, notice };
  const status = e.reason === "idle_timeout" ? "idle" : t.session.status;
  return { ...t, notice, session: { ...t.session, status, expiresAt: e.expiresAt || t.session.expiresAt } };
}

const overNotice = (session: string, reason: string, at: number): Notice => ({ session, reason, at, over: true, dismissed: false });

/** passed applies a change of the session's status. That it ended is news only when it was seen alive. */
function passed(t: Thread, e: ThreadEvent, status: string): Thread {
  const { session } = t;
  if (session === null || session.id !== e.session) return t;
  const ended = isLive(session.status) && !isLive(status) && e.reason !== "superseded";
  const notice = ended ? overNotice(session.id, e.reason, e.at) : isLive(status) ? null : t.notice;
  return { ...t, notice, session: { ...session, status, endedAt: isLive(status) ? 0 : e.at, closeReason: isLive(status) ? "" : e.reason, expiresAt: e.expiresAt || session.expiresAt } };
}

/** reduceThread applies one event. What an event does not carry comes with the documents, which are read after it. */
export function reduceThread(t: Thread, e: ThreadEvent): Thread {
  const status = STATUS_AFTER[e.type];
  if (status !== undefined) return passed(t, e, status);
  const observed = OBSERVED_AFTER[e.type];
  if (observed !== undefined) return t.lease?.id === e.lease ? { ...t, lease: { ...t.lease, observed } } : t;
  switch (e.type) {
    case "terminal.state":
    case "terminal.rolled_back":
      return moved(t, e);
    case "session.expiring":
      return expiring(t, e);
    case "session.created":
      return { ...t, notice: null };
    case "thread.deleted":
      return unknownThread;
    default:
      return t;
  }
}

/** A session that ends this much later than was announced, in milliseconds, was kept alive meanwhile. */
const LATER_MS = 500;

/** noticeAfter is what there still is to tell, once the session is known as it is now. */
function noticeAfter(notice: Notice | null, session: SessionDoc | null): Notice | null {
  if (session === null) return notice;
  const same = notice?.session === session.id ? notice : null;
  if (same?.over) return same;
  if (session.status !== "active" && session.status !== "idle") return null;
  if (same !== null && session.expiresAt <= same.at + LATER_MS && (same.reason !== "idle_timeout" || session.status === "idle")) return same;
  return session.status === "idle" ? { session: session.id, reason: "idle_timeout", at: session.expiresAt, over: false, dismissed: false } : null;
}

/** withDocuments is the thread as the server describes it now. */
export function withDocuments(t: Thread, documents: Documents): Thread {
  const { session } = documents;
  const was = t.session;
  const ended = was !== null && session !== null && was.id === session.id && isLive(was.status) && !isLive(session.status);
  const notice = ended ? overNotice(session.id, session.closeReason, session.endedAt) : t.notice;
  return { ...documents, notice: noticeAfter(notice, session) };
}

/** terminalInView is the terminal `id` of the thread, else the active one, else the first. */
export function terminalInView(t: Documents, id: string | null): TerminalDoc | undefined {
  return t.terminals.find((one) => one.id === id) ?? t.terminals.find((one) => one.active) ?? t.terminals[0];
}
