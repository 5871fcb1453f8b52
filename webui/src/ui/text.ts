/** How texts of programs and models look in the page. They are of anybody: none may hide, reorder or pretend. */

/** Absent is a text that the server may leave out. */
type Absent = string | null | undefined;
/** Part is a text, or a condition that is false in place of one. */
export type Part = Absent | false | 0;

/** Longest text that is kept, in UTF-16 code units: a message may have 8 MiB. */
export const MAX_TEXT = 64 * 1024;
/** Items of a list that are kept. */
export const MAX_ITEMS = 50;

/** Text is the beginning of a text, and how much is left out behind it. */
export interface Text {
  text: string;
  left: number;
}

/** List is the beginning of a list, and how much is left out behind it. */
export interface List<T> {
  items: readonly T[];
  left: number;
}

/** begin returns at most `most` code units of a text. It does not end in half a character. */
export function begin(s: Absent, most = MAX_TEXT): Text {
  const text = s ?? "";
  if (text.length <= most) return { text, left: 0 };
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return { text: text.slice(0, end), left: text.length - end };
}

export const firstItems = <T>(all: readonly T[] = [], most = MAX_ITEMS): List<T> => ({
  items: all.slice(0, most),
  left: Math.max(0, all.length - most),
});

/** Longest title or name shown, in characters: a program may set a title of any length. */
const MAX_LABEL = 120;

/** C0 and C1 controls, line and paragraph separators, and the characters that reorder or hide the text around them. */
const HOSTILE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/g;

/** clean makes a title, name or path fit for one line: no controls, no bidi overrides, at most `most` characters. */
export function clean(s: Absent, most = MAX_LABEL): string {
  const line = (s ?? "").replace(HOSTILE, " ").trim();
  const chars = Array.from(line);
  return chars.length > most ? `${chars.slice(0, most - 1).join("")}…` : line;
}

/** Controls but for line feeds and tabs, line separators, and characters that hide or reorder the text around them. */
const UNSEEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f" +
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]",
  "gu",
);
/** Of these the ones that make emoji and some scripts what they are. */
const JOINING = /[\u200c\u200d\ufe0e\ufe0f]/;
/** Control sequences (ECMA-48 5.4) and OSC strings: programs colour their output. */
const SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

const code = (c: string): string => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`;

/** exact shows every character of a text as such, for a person who decides about it. */
export const exact = (s: string): string => s.replace(UNSEEN, code);

/** readable is a text for a reader: colours of terminals are left out, and what would mislead is seen. */
export function readable(s: Absent): string {
  return (s ?? "")
    .replace(SEQUENCES, "")
    .replace(/\r\n?/g, "\n")
    .replace(UNSEEN, (c) => (JOINING.test(c) ? c : code(c)));
}

/** A folded text shows the first of so many characters and lines. */
export const FOLD_CHARS = 700;
export const FOLD_LINES = 10;
/** It does not fold for less than this, in characters and lines. */
const SPARE_CHARS = 200;
const SPARE_LINES = 3;

/** lineEnd is where the first n lines of a text end. */
function lineEnd(s: string, n: number): number {
  let at = -1;
  for (let i = 0; i < n; i++) {
    at = s.indexOf("\n", at + 1);
    if (at < 0) return s.length;
  }
  return at;
}

/** folded is the beginning of a long text; null for one that is not long. */
export function folded(s: string): string | null {
  if (s.length <= FOLD_CHARS + SPARE_CHARS && lineEnd(s, FOLD_LINES + SPARE_LINES) === s.length) return null;
  return begin(s, Math.min(FOLD_CHARS, lineEnd(s, FOLD_LINES))).text;
}

export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString()} ${n === 1 ? one : many}`;
}

export const joined = (parts: readonly Part[], by: string): string => parts.filter(Boolean).join(by);

export const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
