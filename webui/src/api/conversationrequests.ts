import { restOf, type Part } from "../conversation/messages";
import type { RecordDeps, Refusal } from "../conversation/conversation";
import { exactJSON, parseApprovals, parseLedger, parseMessages, parsePermissions, parseTimeline, parseUsage, type Message } from "../conversation/documents";
import { failure, threadPath } from "./requests";

/** Approvals that are shown, the newest. */
const MAX_APPROVALS = 60;

/** ask reads one document of a thread and what `parse` makes of it. It never throws. */
async function ask<T extends object>(thread: string, what: string, parse: (body: unknown) => T): Promise<T | Refusal> {
  try {
    const response = await fetch(threadPath(thread, what));
    return response.ok ? parse(exactJSON(await response.text())) : { status: response.status };
  } catch {
    return { status: 0 };
  }
}

const query = (p: Part): string => `messages?after=${p.after}&limit=${p.limit}${p.newest ? "&newest=1" : ""}${p.archived ? "&archived=1" : ""}`;

/** unwritten says that the messages are of no record: nobody has written one yet. */
const unwritten = (body: unknown): boolean => typeof body === "object" && body !== null && "session_id" in body && body.session_id === null;

/** readMessages reads a part of the messages, in several answers when the messages are long. It never throws. */
async function readMessages(thread: string, part: Part): Promise<readonly Message[] | Refusal> {
  const list: Message[] = [];
  for (let rest: Part | null = part; rest !== null; ) {
    const got: readonly Message[] | Refusal = await ask<readonly Message[] | Refusal>(thread, query(rest), (body) =>
      unwritten(body) ? { status: 404 } : parseMessages(body),
    );
    if (!Array.isArray(got)) return got;
    list.push(...(got as Message[]));
    rest = part.newest ? null : restOf(rest, got as Message[]);
  }
  return list;
}

/** How the record of a thread is read. */
export const recordRequests: Omit<RecordDeps, "random"> = {
  messages: readMessages,
  async timeline(thread) {
    const [timeline, trace] = await Promise.all([ask(thread, "timeline", (b) => ({ b })), ask(thread, "trace", (b) => ({ b }))]);
    if ("status" in timeline) return timeline;
    return "status" in trace ? trace : parseTimeline(timeline.b, trace.b);
  },
  ledger: (thread) => ask(thread, "ledger", parseLedger),
  usage: (thread) => ask(thread, "usage", parseUsage),
  pending: (thread) => ask(thread, "approvals?status=pending", parseApprovals),
  async decisions(thread) {
    const [permissions, approvals] = await Promise.all([ask(thread, "permissions", parsePermissions), ask(thread, `approvals?limit=${MAX_APPROVALS}`, parseApprovals)]);
    if ("status" in permissions) return permissions;
    return "status" in approvals ? approvals : { permissions, approvals };
  },
};

/** decideApproval grants or denies a call that waits. It throws an Error that a person can read. */
export async function decideApproval(thread: string, id: string, decision: "approve" | "deny"): Promise<void> {
  const response = await fetch(threadPath(thread, `approvals/${encodeURIComponent(id)}`), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ decision }),
  });
  if (!response.ok) throw await failure(response);
}
