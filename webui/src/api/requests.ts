import { type Message, parseMessages, type Range } from "../conversation/messages";
import { isGuest } from "../share/guest";
import { credentials } from "./credential";
import { EventStream } from "./eventstream";
import { exactJSON, fields, guard, type Open, type Shape } from "./guard";
import {
  type Approval,
  type Lease,
  type MadeShare,
  type Permissions,
  parseApproval,
  parseApprovals,
  parseLease,
  parseSession,
  parseTerminal,
  parseTerminals,
  parseTimeline,
  type Session,
  type Shared,
  type Size,
  type Terminal,
  type ThreadTerminal,
} from "./wire";
import * as wire from "./wire.gen";

/** Refusal is the HTTP status that came instead of an answer; 0 when the server was not reached. */
export class Refusal {
  constructor(readonly status: number) {}

  /** lasting says that asking again does not help before something happens: not for us, not here, or not supported. */
  lasting(): boolean {
    return [401, 403, 404, 405, 501].includes(this.status);
  }
}

/** address resolves a path against the page, so that a path prefix of a reverse proxy stays. */
const address = (path: string): string => new URL(path, new URL(".", location.href.split("#")[0])).href;

interface Reply {
  body: unknown;
  /** When the server wrote it, in milliseconds since the epoch; NaN when unknown. */
  date: number;
}

/** ask reads one document. It never throws. */
async function ask(path: string): Promise<Reply | Refusal> {
  try {
    const response = await fetch(address(path), { headers: credentials() });
    if (!response.ok) return new Refusal(response.status);
    return { body: exactJSON(await response.text()), date: Date.parse(response.headers.get("Date") ?? "") };
  } catch {
    return new Refusal(0);
  }
}

/** read is what `decode` makes of one document. It never throws. */
async function read<T>(path: string, decode: (body: unknown) => T): Promise<T | Refusal> {
  const reply = await ask(path);
  return reply instanceof Refusal ? reply : decode(reply.body);
}

/** readAs reads one document of the wire. It never throws. */
const readAs = <T>(path: string, shape: Shape<T>): Promise<Open<T> | Refusal> => read(path, (v) => guard(shape, v));

/** both waits for two answers; the first refusal stands for both. */
async function both<A, B, T>(
  a: Promise<A | Refusal>,
  b: Promise<B | Refusal>,
  join: (a: A, b: B) => T,
): Promise<T | Refusal> {
  const [one, two] = await Promise.all([a, b]);
  if (one instanceof Refusal) return one;
  return two instanceof Refusal ? two : join(one, two);
}

/** change asks the server to do something and returns its document. It throws an Error that a person can read. */
async function change(path: string, body: unknown = {}, method = "POST"): Promise<unknown> {
  const headers = { ...credentials(), "Content-Type": "application/json" };
  const response = await fetch(address(path), { method, headers, body: JSON.stringify(body) });
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok && !(method === "DELETE" && response.status === 404))
    throw new Error(guard(wire.Error, answer).error || `The server answered ${response.status}.`);
  return answer;
}

// Terminals.

const sessionPath = (session: string): string => `session/${encodeURIComponent(session)}/pty`;
const terminalPath = (info: Terminal): string => `${sessionPath(info.session)}/${encodeURIComponent(info.id)}`;

/** Draft has the fields of the "New terminal" form; empty ones are not sent. */
export interface Draft {
  session: string;
  command: string;
  cwd: string;
  name: string;
}

/**
 * createTerminal starts a terminal and returns the server's description. It throws an Error that a person can read.
 * A command line is run by bash, so quotes and pipes mean what they always do.
 */
export async function createTerminal(draft: Draft, size: Size | null): Promise<Terminal> {
  const [cwd, name] = [draft.cwd.trim(), draft.name.trim()];
  const body: wire.CreateTerminal = {
    ...size,
    ...(draft.command.trim() !== "" && { cmd: ["bash", "-lc", draft.command] }),
    ...(cwd !== "" && { cwd }),
    ...(name !== "" && { name }),
  };
  const info = parseTerminal(await change(sessionPath(draft.session), body));
  if (info === null) throw new Error("The server's answer names no terminal.");
  return info;
}

/** closeTerminal ends a terminal's process tree and takes it off the list. */
export const closeTerminal = (info: Terminal): Promise<unknown> => change(terminalPath(info), undefined, "DELETE");

export const restartTerminal = (info: Terminal): Promise<unknown> => change(`${terminalPath(info)}/restart`);

// Links.

/** createShare makes a link. It throws an Error that a person can read. */
export async function createShare(order: wire.ShareRequest): Promise<MadeShare> {
  return guard(wire.MadeShare, await change("shares", order));
}

/** listShares reads the links that there are. It never throws. */
export const listShares = (): Promise<Open<wire.ShareList> | Refusal> => readAs("shares", wire.ShareList);

/** deleteShare revokes a link and ends its viewers. It throws an Error that a person can read. */
export const deleteShare = (id: string): Promise<unknown> =>
  change(`shares/${encodeURIComponent(id)}`, undefined, "DELETE");

// Threads.

const threadPath = (thread: string, what: string): string => `api/threads/${encodeURIComponent(thread)}/${what}`;

/** threadEvents opens the stream of a thread's events behind `since`, or from now on. */
export const threadEvents = (thread: string, since: number | null): EventStream =>
  new EventStream(address(threadPath(thread, `events?since=${since ?? "latest"}`)));

/** Two clocks this close count as the same, in milliseconds: the header that tells the server's has whole seconds. */
const SAME_CLOCK_MS = 2_000;

/** Documents describe a thread, which may never have had a session. */
export interface Documents {
  session: Session | null;
  terminals: readonly ThreadTerminal[];
  lease: Lease | null;
  /** What to add to this computer's clock for the server's, in milliseconds. */
  clock: number;
}

/** readThread reads the documents of a thread. It never throws. */
export async function readThread(thread: string): Promise<Documents | Refusal> {
  const document = (what: string): Promise<Reply | Refusal> => ask(threadPath(thread, what));
  const [session, terminals, lease] = await Promise.all([
    document("session"),
    document("terminals"),
    document("lease"),
  ]);
  if (terminals instanceof Refusal) return terminals;
  if (lease instanceof Refusal) return lease;
  if (session instanceof Refusal && session.status !== 404) return session;
  const ahead = lease.date - Date.now();
  return {
    session: session instanceof Refusal ? null : parseSession(session.body),
    terminals: parseTerminals(terminals.body),
    lease: parseLease(lease.body),
    clock: Math.abs(ahead) > SAME_CLOCK_MS ? ahead : 0, // NaN is not greater
  };
}

/** changeThread touches, pauses or resumes a thread. */
export const changeThread = (thread: string, what: "touch" | "pause" | "resume"): Promise<unknown> =>
  change(threadPath(thread, what));

/** canChange asks whether a provider can pause or resume. An unknown one may try: a refusal is in words. */
export async function canChange(provider: string, what: "pause" | "resume"): Promise<boolean> {
  const got = await readAs("api/sandbox/types", wire.SandboxTypes);
  const one = got instanceof Refusal ? undefined : got.types.find((p) => p.name === provider);
  return one?.capabilities[`can_${what}`] ?? true;
}

// The conversation of a thread.

/** Approvals that are shown, the newest. */
const MAX_APPROVALS = 60;

/** restOf is the rest of a range behind an answer, which is short when messages are long; null for none. */
export function restOf(range: Range, got: readonly Message[]): Range | null {
  const last = got.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
  const end = range.after + range.limit;
  return last >= end || last <= range.after ? null : { ...range, after: last, limit: end - last };
}

/** messagesOf reads messages. Without a session the thread has no conversation yet. */
const messagesOf = (body: unknown): Message[] | Refusal =>
  fields(body).session_id === null ? new Refusal(404) : parseMessages(body);

const query = (r: Range): string =>
  `messages?after=${r.after}&limit=${r.limit}${r.newest ? "&newest=1" : ""}${r.archived ? "&archived=1" : ""}`;

/** readMessages reads a range of messages, in several answers when the messages are long. */
async function readMessages(thread: string, range: Range): Promise<readonly Message[] | Refusal> {
  const list: Message[] = [];
  for (let rest: Range | null = range; rest !== null; ) {
    const got: Message[] | Refusal = await read(threadPath(thread, query(rest)), messagesOf);
    if (got instanceof Refusal) return got;
    list.push(...got);
    rest = range.newest ? null : restOf(rest, got);
  }
  return list;
}

/** How the conversation of a thread is read. Nothing here throws. */
export const conversationRequests = {
  messages: readMessages,
  timeline: (thread: string) =>
    both(ask(threadPath(thread, "timeline")), ask(threadPath(thread, "trace")), (a, b) =>
      parseTimeline(a.body, b.body),
    ),
  ledger: (thread: string) => readAs(threadPath(thread, "ledger"), wire.Ledger),
  usage: (thread: string) => readAs(threadPath(thread, "usage"), wire.Usage),
  pending: (thread: string) => read(threadPath(thread, "approvals?status=pending"), parseApprovals),
  decisions: (thread: string): Promise<Decisions | Refusal> =>
    both(
      readAs(threadPath(thread, "permissions"), wire.Permissions),
      read(threadPath(thread, `approvals?limit=${MAX_APPROVALS}`), parseApprovals),
      (permissions, approvals) => ({ permissions, approvals }),
    ),
};
export type ConversationRequests = typeof conversationRequests;
/** Decisions are the permissions of a thread and its newest calls, the newest first. */
export interface Decisions {
  permissions: Permissions;
  approvals: readonly Approval[];
}

/** revealApproval reads a call with its hidden values, after which it can be approved. */
export const revealApproval = (thread: string, id: string): Promise<Approval | null | Refusal> =>
  read(threadPath(thread, `approvals/${encodeURIComponent(id)}?reveal=1`), parseApproval);

export const decideApproval = (
  thread: string,
  id: string,
  decision: wire.DecideApproval["decision"],
): Promise<unknown> =>
  change(threadPath(thread, `approvals/${encodeURIComponent(id)}`), { decision } satisfies wire.DecideApproval);

// The connection.

/** logOut ends the login of this browser, and what its tabs have opened. It throws an Error that a person can read. */
export const logOut = (): Promise<unknown> => change("logout");

/**
 * probeVersion returns the HTTP status of a cheap request, 0 when the server cannot be reached. The server says 404 of a
 * link that opens nothing any more, as of one that never did: to its guest that is the end of a login.
 */
export async function probeVersion(secret?: string): Promise<number> {
  const guest = isGuest();
  try {
    const path = address(guest ? "share" : "version");
    const { status } = await fetch(path, { cache: "no-store", headers: credentials(secret) });
    return guest && status === 404 ? 401 : status;
  } catch {
    return 0;
  }
}

/** kickViewer removes a viewer from a terminal. */
export const kickViewer = (id: string, viewer: string): Promise<unknown> =>
  change(`pty/${encodeURIComponent(id)}/viewers/${encodeURIComponent(viewer)}/kick`);

/** openSocket opens the page's connection. Others see it as `name`; by `key` the server knows the page again. */
export function openSocket(name: string, key: string): WebSocket {
  const query = new URLSearchParams({ client: "web", name, key });
  return new WebSocket(`${address("ws").replace(/^http/, "ws")}?${query}`);
}

/** readShared reads what the link of a guest's page shows. It never throws. */
export const readShared = (): Promise<Shared | Refusal> => readAs("share", wire.Shared);
