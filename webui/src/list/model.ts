import type { Meta, ServerEvent, Terminal } from "../api/wire";
import { begun, told, unwatched, type Watch } from "../viewers/watch";

/** Model is everything the page knows about terminals apart from their screens. It is never changed in place. */
export interface Model {
  items: readonly Terminal[];
  /** Terminals that rang or notified since the user last looked. */
  attention: ReadonlySet<string>;
  /** Why the server refused a terminal, by id; cleared when it shows a screen after all. */
  refused: ReadonlyMap<string, string>;
  /** Who watches the terminals that this page watches, by id. */
  watched: ReadonlyMap<string, Watch>;
  /** True after the first list: before it, "no terminals" is not yet known. */
  listed: boolean;
}

export const emptyModel: Model = {
  items: [],
  attention: new Set(),
  refused: new Map(),
  watched: new Map(),
  listed: false,
};

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
export const hasEnded = (state: string): boolean => state === "exited" || state === "lost";

/** hasBanner says that the page explains this state in a banner over the terminal's last rows. */
export const hasBanner = (state: string): boolean => state !== "running";

function withList(model: Model, items: Terminal[], looking: string | null): Model {
  const bells = new Map(model.items.map((i) => [i.id, i.bell_count]));
  const rang = (i: Terminal): boolean => i.bell_count > (bells.get(i.id) ?? i.bell_count) && i.id !== looking;
  const attention = items.filter((i) => rang(i) || model.attention.has(i.id)).map((i) => i.id);
  return { ...model, items, attention: new Set(attention), listed: true };
}

function withItem(model: Model, id: string, edit: (info: Terminal) => Partial<Terminal>): Model {
  return { ...model, items: model.items.map((i) => (i.id === id ? { ...i, ...edit(i) } : i)) };
}

function withWatch(model: Model, id: string, edit: (watch: Watch) => Watch): Model {
  return { ...model, watched: new Map(model.watched).set(id, edit(model.watched.get(id) ?? unwatched)) };
}

function withMeta(model: Model, meta: Meta, looking: string | null): Model {
  const { pty, title, cwd, viewers, size, bell, notify } = meta;
  const spoken = meta.presence !== undefined || meta.control !== undefined || viewers !== undefined;
  const watching = spoken ? withWatch(model, pty, (w) => told(w, meta)) : model;
  const next = withItem(watching, pty, (i) => ({
    title: title ?? i.title,
    cwd: cwd ?? i.cwd,
    viewers: viewers ?? i.viewers,
    ...size,
  }));
  const rang = (bell || notify) && pty !== looking;
  return rang ? { ...next, attention: new Set(model.attention).add(pty) } : next;
}

function withoutRefusal(model: Model, id: string): Model {
  const refused = new Map(model.refused);
  return refused.delete(id) ? { ...model, refused } : model;
}

/** withoutAttention removes the attention mark of a terminal. */
export function withoutAttention(model: Model, id: string): Model {
  const attention = new Set(model.attention);
  return attention.delete(id) ? { ...model, attention } : model;
}

/** reduce applies one server event; `looking` is the terminal the user has in front of them right now, or null. */
export function reduce(model: Model, event: ServerEvent, looking: string | null): Model {
  switch (event.event) {
    case "list":
      return withList(model, event.items, looking);
    case "meta":
      return withMeta(model, event, looking);
    case "exit": {
      const { code, signal, reason } = event;
      const state = reason === "lost" ? "lost" : "exited";
      return withItem(model, event.pty, () => ({ state, exit: { code, signal, reason } }));
    }
    case "snapshot":
    case "resume":
    case "resize": {
      const { pty, cols, rows } = event;
      const known =
        "viewer" in event && event.viewer ? withWatch(model, pty, (w) => begun(w, event.viewer ?? "")) : model;
      return withItem(withoutRefusal(known, pty), pty, () => ({ cols, rows }));
    }
    case "kicked":
      return withWatch(model, event.pty, (w) => ({ ...w, removed: true }));
    case "error":
      return event.pty && event.code === "NOT_FOUND"
        ? { ...model, refused: new Map(model.refused).set(event.pty, event.error) }
        : model;
    case "data":
    case "pong":
      return model;
  }
}
