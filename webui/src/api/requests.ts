import { isFields, parseInfo, text, type Info, type Size } from "./wire";
import { parseLease, parseSession, parseTerminals } from "../thread/thread";
import type { Reading } from "./feed";

/** Draft is what the "New terminal" form asks for; empty fields are left to the server. */
export interface Draft {
  session: string;
  command: string;
  cwd: string;
  name: string;
}

/** address resolves a path against the page, so that a path prefix of a reverse proxy stays. */
export function address(path: string): string {
  return new URL(path, new URL(".", location.href.split("#")[0])).href;
}

const sessionPath = (session: string): string => `session/${encodeURIComponent(session)}/pty`;

export async function failure(response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => null);
  const said = typeof body === "object" && body !== null && "error" in body ? body.error : null;
  return new Error(typeof said === "string" && said !== "" ? said : `The server answered ${response.status}.`);
}

/** creation is the body of the request: a command line is run by bash, so quotes and pipes mean what they always do. */
export function creation(draft: Draft, size: Size | null): Record<string, unknown> {
  const body: Record<string, unknown> = { ...size };
  if (draft.command.trim() !== "") body.cmd = ["bash", "-lc", draft.command];
  if (draft.cwd.trim() !== "") body.cwd = draft.cwd.trim();
  if (draft.name.trim() !== "") body.name = draft.name.trim();
  return body;
}

/** createTerminal starts a terminal and returns the server's description. It throws an Error that a person can read. */
export async function createTerminal(draft: Draft, size: Size | null): Promise<Info> {
  const response = await fetch(address(sessionPath(draft.session)), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(creation(draft, size)),
  });
  if (!response.ok) throw await failure(response);
  const info = parseInfo(await response.json());
  if (info === null) throw new Error("The server's answer names no terminal.");
  return info;
}

/** closeTerminal ends a terminal's process tree and takes it off the list. It throws an Error that a person can read. */
export async function closeTerminal(info: Info): Promise<void> {
  const path = `${sessionPath(info.session)}/${encodeURIComponent(info.id)}`;
  const response = await fetch(address(path), { method: "DELETE" });
  if (!response.ok && response.status !== 404) throw await failure(response);
}

/** restartTerminal starts the program of an ended terminal again. It throws an Error that a person can read. */
export async function restartTerminal(info: Info): Promise<void> {
  const path = `${sessionPath(info.session)}/${encodeURIComponent(info.id)}/restart`;
  const response = await fetch(address(path), { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  if (!response.ok) throw await failure(response);
}

export const threadPath = (thread: string, what: string): string => address(`api/threads/${encodeURIComponent(thread)}/${what}`);

/** threadEvents opens the stream of a thread's events behind `since`, or from now on. */
export function threadEvents(thread: string, since: number | null): EventSource {
  return new EventSource(threadPath(thread, `events?since=${since ?? "latest"}`));
}

/** Two clocks this close count as the same, in milliseconds: the header that tells the server's has whole seconds. */
const SAME_CLOCK_MS = 2_000;

function clockOf(response: Response): number {
  const ahead = Date.parse(response.headers.get("Date") ?? "") - Date.now();
  return Math.abs(ahead) > SAME_CLOCK_MS ? ahead : 0; // NaN is not greater
}

/** readThread reads what the page shows of a thread. A thread may never have had a session. It never throws. */
export async function readThread(thread: string): Promise<Reading> {
  try {
    const [session, terminals, lease] = await Promise.all(["session", "terminals", "lease"].map((what) => fetch(threadPath(thread, what))));
    if (!session || !terminals?.ok || !lease?.ok) return { status: (terminals?.ok ? lease : terminals)?.status ?? 0 };
    if (!session.ok && session.status !== 404) return { status: session.status };
    return {
      session: session.ok ? parseSession(await session.json()) : null,
      terminals: parseTerminals(await terminals.json()),
      lease: parseLease(await lease.json()),
      clock: clockOf(lease),
    };
  } catch {
    return { status: 0 };
  }
}

/** changeThread touches, pauses or resumes a thread. It throws an Error that a person can read. */
export async function changeThread(thread: string, what: "touch" | "pause" | "resume"): Promise<void> {
  const response = await fetch(threadPath(thread, what), { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  if (!response.ok) throw await failure(response);
}

/** Abilities is what a provider can do. What it does not say is tried: the server's refusal is in words. */
export interface Abilities {
  pause: boolean;
  resume: boolean;
}

const anything: Abilities = { pause: true, resume: true };

/** providerAbilities asks what a provider can do. It never throws. */
export async function providerAbilities(provider: string): Promise<Abilities> {
  try {
    const body: unknown = await (await fetch(address("api/sandbox/types"))).json();
    const types = isFields(body) && Array.isArray(body.types) ? body.types.filter(isFields) : [];
    const one = types.find((t) => text(t.name) === provider);
    return one ? { pause: one.can_pause !== false, resume: one.can_resume !== false } : anything;
  } catch {
    return anything;
  }
}

/** probeVersion returns the HTTP status of a cheap request, 0 when the server cannot be reached. */
export async function probeVersion(): Promise<number> {
  try {
    return (await fetch(address("version"), { cache: "no-store" })).status;
  } catch {
    return 0;
  }
}

/** openSocket starts the page's WebSocket. */
export function openSocket(): WebSocket {
  return new WebSocket(address("ws").replace(/^http/, "ws"));
}
