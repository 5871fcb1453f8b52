import type { Meta, ServerEvent, Terminal } from "../api/wire";

/** Model is everything the page knows about terminals apart from their screens. It is never changed in place. */
export interface Model {
  items: readonly Terminal[];
  /** Terminals that rang or notified since the user last looked. */
  attention: ReadonlySet<string>;
  /** Why the server refused a terminal, by id; cleared when it shows a screen after all. */
  refused: ReadonlyMap<string, string>;
  /** True after the first list: before it, "no terminals" is not yet known. */
  listed: boolean;
}

export const emptyModel: Model = { items: [], attention: new Set(), refused: new Map(), listed: false };

/** Group is the terminals of one session, in the server's order. */
export interface Group {
  session: string;
  items: Terminal[];
}

/** groups sorts terminals by session; sessions by name, terminals as they came. */
export function groups(items: readonly Terminal[]): Group[] {
  const bySession = new Map<string, Terminal[]>();
  for (const item of items) {
    const members = bySession.get(item.session);
    if (members) members.push(item);
    else bySession.set(item.session, [item]);
  }
  return [...bySession]
    .map(([session, members]) => ({ session, items: members }))
    .sort((a, b) => a.session.localeCompare(b.session));
}

/** hasEnded says that a terminal in this state has no process any more, so that typing into it is pointless. */
export function hasEnded(state: string): boolean {
  return state === "exited" || state === "lost";
}

/** hasBanner says that the page explains this state in a banner over the terminal's last rows. */
export function hasBanner(state: string): boolean {
  return state !== "running";
}

function applyList(model: Model, items: Terminal[], looking: string | null): Model {
  const before = new Map(model.items.map((i) => [i.id, i]));
  const attention = new Set<string>();
  for (const item of items) {
    const known = before.get(item.id);
    const rang = known !== undefined && item.bell_count > known.bell_count && item.id !== looking;
    if (rang || model.attention.has(item.id)) attention.add(item.id);
  }
  return { ...model, items, attention, listed: true };
}

function change(model: Model, id: string, edit: (info: Terminal) => Terminal): Model {
  return { ...model, items: model.items.map((i) => (i.id === id ? edit(i) : i)) };
}

function applyMeta(model: Model, meta: Meta, looking: string | null): Model {
  const next = change(model, meta.pty, (i) => ({
    ...i,
    title: meta.title ?? i.title,
    cwd: meta.cwd ?? i.cwd,
    viewers: meta.viewers ?? i.viewers,
    cols: meta.size?.cols ?? i.cols,
    rows: meta.size?.rows ?? i.rows,
  }));
  const rang = (meta.bell === true || meta.notify !== undefined) && meta.pty !== looking;
  return rang ? { ...next, attention: new Set(model.attention).add(meta.pty) } : next;
}

function refuse(model: Model, id: string, why: string): Model {
  return { ...model, refused: new Map(model.refused).set(id, why) };
}

function accept(model: Model, id: string): Model {
  if (!model.refused.has(id)) return model;
  const refused = new Map(model.refused);
  refused.delete(id);
  return { ...model, refused };
}

/** withoutAttention removes the attention mark of a terminal. */
export function withoutAttention(model: Model, id: string): Model {
  if (!model.attention.has(id)) return model;
  const attention = new Set(model.attention);
  attention.delete(id);
  return { ...model, attention };
}

/** reduce applies one server event; `looking` is the terminal the user has in front of them right now, or null. */
export function reduce(model: Model, event: ServerEvent, looking: string | null): Model {
  switch (event.event) {
    case "list":
      return applyList(model, event.items, looking);
    case "meta":
      return applyMeta(model, event, looking);
    case "exit":
      return change(model, event.pty, (i) => ({
        ...i,
        state: event.reason === "lost" ? "lost" : "exited",
        exit: { code: event.code, signal: event.signal, reason: event.reason },
      }));
    case "snapshot":
    case "resume":
      return accept(
        change(model, event.pty, (i) => ({ ...i, cols: event.cols, rows: event.rows })),
        event.pty,
      );
    case "resize":
      return change(model, event.pty, (i) => ({ ...i, cols: event.cols, rows: event.rows }));
    case "error":
      return event.pty && event.code === "NOT_FOUND" ? refuse(model, event.pty, event.error) : model;
    case "data":
    case "pong":
      return model;
  }
}
