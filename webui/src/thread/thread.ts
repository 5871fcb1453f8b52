import type { Documents } from "../api/requests";
import { type Session, type ThreadEvent, type ThreadTerminal, time } from "../api/wire";

/**
 * A thread has a policy window ("session"), the state of its terminals and a place where their processes run ("lease").
 * This file applies events to it, without any request.
 */

/** Notice tells a person that a session ends soon, or has ended in front of them. */
export interface Notice {
  session: string;
  reason: string;
  /** When it ends, in milliseconds since the epoch. */
  at: number;
  over: boolean;
  /** The user has read it; the same one is not shown again. */
  dismissed: boolean;
}

/** Thread is never changed in place. */
export interface Thread extends Documents {
  notice: Notice | null;
}

export const unknownThread: Thread = { session: null, terminals: [], lease: null, clock: 0, notice: null };

/** isLive says whether a session in this status still lets processes live. */
export const isLive = (status: string): boolean => ["active", "idle", "paused"].includes(status);

const announce = (session = "", reason = "", at: string | null | undefined, over: boolean): Notice => {
  return { session, reason, at: time(at), over, dismissed: false };
};

type Change = (t: Thread, e: ThreadEvent) => Thread;

/** withTerminal applies a new version of a terminal's state; an older one changes nothing. */
function withTerminal(t: Thread, { data }: ThreadEvent): Thread {
  const { terminal_id, version = 0 } = data;
  const change = (one: ThreadTerminal): ThreadTerminal =>
    one.terminal_id === terminal_id && version > one.version ? { ...one, cwd: data.cwd ?? one.cwd, version } : one;
  return { ...t, terminals: t.terminals.map(change) };
}

/** withWarning applies the warning that a session ends soon. It leads to idle only when it is about idleness. */
function withWarning(t: Thread, { data }: ThreadEvent): Thread {
  const notice = announce(data.session_id, data.reason, data.expires_at, false);
  const { session } = t;
  if (session === null || session.session_id !== data.session_id) return { ...t, notice };
  const status = data.reason === "idle_timeout" ? "idle" : session.status;
  return { ...t, notice, session: { ...session, status, expires_at: data.expires_at || session.expires_at } };
}

/** withStatus applies a change of the session's status. Only a session that was seen alive ends with a notice. */
const withStatus =
  (status: string): Change =>
  (t, { at, data }) => {
    const { session } = t;
    if (session === null || session.session_id !== data.session_id) return t;
    const expires_at = data.expires_at || session.expires_at;
    if (isLive(status))
      return { ...t, notice: null, session: { ...session, status, ended_at: "", close_reason: "", expires_at } };
    const ended = isLive(session.status) && data.reason !== "superseded";
    const notice = ended ? announce(session.session_id, data.reason, at, true) : t.notice;
    return { ...t, notice, session: { ...session, status, ended_at: at, close_reason: data.reason ?? "", expires_at } };
  };

const withObserved =
  (observed_state: string): Change =>
  (t, { data }) =>
    t.lease && t.lease.lease_id === data.lease_id ? { ...t, lease: { ...t.lease, observed_state } } : t;

/** What an event changes. What it does not carry comes with the documents, which are read after it. */
const CHANGES: Readonly<Record<string, Change>> = {
  "session.created": (t) => ({ ...t, notice: null }),
  "session.expiring": withWarning,
  "session.active": withStatus("active"),
  "session.resumed": withStatus("active"),
  "session.paused": withStatus("paused"),
  "session.closed": withStatus("closed"),
  "session.failed": withStatus("failed"),
  "lease.running": withObserved("running"),
  "lease.paused": withObserved("paused"),
  "lease.dead": withObserved("dead"),
  "lease.unknown": withObserved("unknown"),
  "terminal.state": withTerminal,
  "terminal.rolled_back": withTerminal,
  "thread.deleted": () => unknownThread,
};

/** reduceThread applies one event. */
export const reduceThread: Change = (t, e) => CHANGES[e.type]?.(t, e) ?? t;

/** A session that ends this much later than was announced, in milliseconds, was kept alive meanwhile. */
const LATER_MS = 500;

/** noticeAfter is the notice that still holds for the session as it is now. */
function noticeAfter(notice: Notice | null, session: Session | null): Notice | null {
  if (session === null) return notice;
  const { session_id, status, expires_at } = session;
  const same = notice?.session === session_id ? notice : null;
  if (same?.over) return same;
  if (status !== "active" && status !== "idle") return null;
  if (same && time(expires_at) <= same.at + LATER_MS && (same.reason !== "idle_timeout" || status === "idle"))
    return same;
  return status === "idle" ? announce(session_id, "idle_timeout", expires_at, false) : null;
}

/** withDocuments is the thread as the server describes it now. */
export function withDocuments(t: Thread, documents: Documents): Thread {
  const { session } = documents;
  const was = t.session?.session_id === session?.session_id ? t.session : null;
  const ended = session && was && isLive(was.status) && !isLive(session.status);
  const notice = ended ? announce(session.session_id, session.close_reason, session.ended_at, true) : t.notice;
  return { ...documents, notice: noticeAfter(notice, session) };
}

/** terminalInView is the terminal `id` of the thread, else the active one, else the first. */
export function terminalInView({ terminals }: Documents, id: string | null): ThreadTerminal | undefined {
  return terminals.find((t) => t.terminal_id === id) ?? terminals.find((t) => t.active) ?? terminals[0];
}
