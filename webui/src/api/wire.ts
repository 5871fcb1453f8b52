/**
 * The page's side of `GET /ws`: JSON text frames, one connection per page. The server is trusted to be evertty,
 * but not to be of our version: unknown events and fields are ignored, missing ones get a harmless value.
 */

export interface Exit {
  code: number | null;
  signal: string;
  reason: string;
}

/** Info is one terminal as the server lists it; names are the wire's own. */
export interface Info {
  id: string;
  name: string;
  session: string;
  cmd: string[];
  cwd: string;
  cols: number;
  rows: number;
  title: string;
  /** "running", "exited", "lost" or "restored"; a newer server may say more. */
  state: string;
  exit: Exit | null;
  viewers: number;
  bell_count: number;
}

export interface Size {
  cols: number;
  rows: number;
}

export interface Notice {
  title: string;
  body: string;
}

export interface Snapshot extends Size {
  event: "snapshot";
  pty: string;
  /** The width table the data was made for: "11" or "15-graphemes". */
  unicode: string;
  reason: string;
  /** Position in the terminal's output after the event, in bytes; the same in the other events that have one. */
  seq: number;
  data: string;
}

/** Resume comes instead of the first snapshot of an attachment with `since`: the screen shown is continued. */
export interface Resume extends Size {
  event: "resume";
  pty: string;
  seq: number;
}

/** ClipboardWrite is what a program wants on the clipboard: data is base64, selection the letters of OSC 52. */
export interface ClipboardWrite {
  selection: string;
  data: string;
}

export interface Meta {
  event: "meta";
  pty: string;
  title?: string;
  cwd?: string;
  viewers?: number;
  bell?: boolean;
  notify?: Notice;
  size?: Size;
  clipboard?: ClipboardWrite;
}

export type ServerEvent =
  | { event: "list"; items: Info[] }
  | Snapshot
  | Resume
  | { event: "data"; pty: string; seq: number; data: string }
  | ({ event: "resize"; pty: string; seq: number } & Size)
  | Meta
  | { event: "exit"; pty: string; seq: number; exit: Exit }
  | { event: "error"; pty: string | null; error: string; code: string }
  | { event: "pong" };

export type ClientMessage =
  | ({ type: "attach"; pty: string; since?: number; hidden?: boolean } & Partial<Size>)
  | { type: "detach"; pty: string }
  | { type: "input"; pty: string; data: string }
  | { type: "input"; pty: string; data_b64: string }
  | ({ type: "resize"; pty: string } & Size)
  | { type: "keys"; pty: string; keys: string[] }
  | { type: "paste"; pty: string; data: string }
  | { type: "focus" | "hide" | "show"; pty: string }
  | { type: "ping"; t: number };

export type Fields = Record<string, unknown>;

export const isFields = (v: unknown): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);
export const text = (v: unknown): string => (typeof v === "string" ? v : "");
export const count = (v: unknown): number => (typeof v === "number" && Number.isFinite(v) && v > 0 ? Math.floor(v) : 0);

/** Largest number of columns or rows the server accepts, in cells. */
export const MAX_CELLS = 1000;

function size(f: Fields): Size | null {
  const cols = count(f.cols);
  const rows = count(f.rows);
  return cols > 0 && rows > 0 && cols <= MAX_CELLS && rows <= MAX_CELLS ? { cols, rows } : null;
}

function exit(f: Fields): Exit {
  return { code: typeof f.code === "number" ? f.code : null, signal: text(f.signal), reason: text(f.reason) };
}

/** parseInfo reads one terminal description; null when it has no id. */
export function parseInfo(v: unknown): Info | null {
  if (!isFields(v) || text(v.id) === "") return null;
  return {
    id: text(v.id),
    name: text(v.name),
    session: text(v.session),
    cmd: Array.isArray(v.cmd) ? v.cmd.map(text) : [],
    cwd: text(v.cwd),
    cols: count(v.cols),
    rows: count(v.rows),
    title: text(v.title),
    state: text(v.state) || "running",
    exit: isFields(v.exit) ? exit(v.exit) : null,
    viewers: count(v.viewers),
    bell_count: count(v.bell_count),
  };
}

function parseList(f: Fields): ServerEvent | null {
  if (!Array.isArray(f.items)) return null;
  return { event: "list", items: f.items.map(parseInfo).filter((i): i is Info => i !== null) };
}

function parseMeta(f: Fields, pty: string): Meta {
  const meta: Meta = { event: "meta", pty };
  if (typeof f.title === "string") meta.title = f.title;
  if (typeof f.cwd === "string") meta.cwd = f.cwd;
  if (typeof f.viewers === "number") meta.viewers = count(f.viewers);
  if (f.bell === true) meta.bell = true;
  if (isFields(f.notify)) meta.notify = { title: text(f.notify.title), body: text(f.notify.body) };
  const s = isFields(f.size) ? size(f.size) : null;
  if (s) meta.size = s;
  if (isFields(f.clipboard)) meta.clipboard = { selection: text(f.clipboard.selection), data: text(f.clipboard.data_b64) };
  return meta;
}

function parseTerminalEvent(f: Fields, pty: string): ServerEvent | null {
  const s = size(f);
  const seq = count(f.seq);
  switch (f.event) {
    case "snapshot":
      return s && { event: "snapshot", pty, ...s, unicode: text(f.unicode), reason: text(f.reason), seq, data: text(f.data) };
    case "resume":
      return s && { event: "resume", pty, ...s, seq };
    case "data":
      return { event: "data", pty, seq, data: text(f.data) };
    case "resize":
      return s && { event: "resize", pty, ...s, seq };
    case "meta":
      return parseMeta(f, pty);
    case "exit":
      return { event: "exit", pty, seq, exit: exit(f) };
    default:
      return null;
  }
}

/** parseEvent reads one frame; null for anything this page does not understand. It never throws. */
export function parseEvent(frame: string): ServerEvent | null {
  let f: unknown;
  try {
    f = JSON.parse(frame);
  } catch {
    return null;
  }
  if (!isFields(f)) return null;
  const pty = text(f.pty);
  if (f.event === "list") return parseList(f);
  if (f.event === "pong") return { event: "pong" };
  if (f.event === "error") return { event: "error", pty: pty || null, error: text(f.error), code: text(f.code) };
  return pty === "" ? null : parseTerminalEvent(f, pty);
}
