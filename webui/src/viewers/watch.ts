import type { Meta, Present } from "../api/wire";

/** Watch is what the page knows of those who watch a terminal with it. It is never changed in place. */
export interface Watch {
  /** The page's own id among the viewers, "" before it is told. */
  self: string;
  /** Who watches, when they are few enough to be named. */
  present: readonly Present[];
  /** How many watch. */
  number: number;
  /** The viewer that alone types, "" while everybody does. */
  holder: string;
  /** Viewers that ask for the keyboard, the first first. */
  requests: readonly string[];
  /** Somebody has removed this page from the terminal. */
  removed: boolean;
}

export const unwatched: Watch = { self: "", present: [], number: 1, holder: "", requests: [], removed: false };

/** begun is the watch of a page that has just connected: what differs from an open terminal is told next. */
export const begun = (watch: Watch, self: string): Watch => ({ ...unwatched, present: watch.present, self });

/** told applies what the server says of viewers. */
export function told(watch: Watch, { presence, control, viewers }: Meta): Watch {
  const next = { ...watch, number: viewers ?? watch.number };
  if (typeof presence === "number") Object.assign(next, { present: [], number: presence });
  else if (presence) Object.assign(next, { present: presence, number: presence.length });
  return control ? { ...next, ...controlled(control) } : next;
}

const controlled = ({ holder, requests }: NonNullable<Meta["control"]>): Pick<Watch, "holder" | "requests"> => ({
  holder: holder ?? "",
  requests,
});

/** mayType reports whether this page may type. */
export const mayType = ({ holder, self }: Watch): boolean => holder === "" || holder === self;

/** others are the viewers besides this page. */
export const others = ({ present, self }: Watch): readonly Present[] => present.filter((p) => p.id !== self);

/** nameOfViewer is what a viewer is called: what it calls itself, else by the end of its number. */
export const nameOfViewer = (watch: Watch, id: string): string =>
  watch.present.find((p) => p.id === id)?.name || `viewer ${id.slice(-4)}`;
