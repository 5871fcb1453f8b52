import { begin } from "./documents";

/** How texts of a record look in the page. They are of anybody: nothing of them may hide, reorder or pretend to be something else. */

/** Controls but for line feeds and tabs, line separators, and characters that hide or that reorder the text around them. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
/** Of these the ones that make emoji and some scripts what they are. */
const JOINING = /[\u200c\u200d\ufe0e\ufe0f]/;
/** Control sequences (ECMA-48 5.4) and OSC strings: programs colour their output. */
const SEQUENCES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

const code = (c: string): string => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`;

/** exact is a text in which everything is seen, for somebody who decides about it. */
export function exact(s: string): string {
  return s.replace(UNSEEN, code);
}

/** readable is a text for a reader: colours of terminals are left out, and what would mislead is seen. */
export function readable(s: string): string {
  return s
    .replace(SEQUENCES, "")
    .replace(/\r\n?/g, "\n")
    .replace(UNSEEN, (c) => (JOINING.test(c) ? c : code(c)));
}

/** What is shown of a text that folds: the first of so many characters and lines. */
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

/** counted is a number with what it counts. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString()} ${n === 1 ? one : many}`;
}

/** scores says how the route was found, "" when nobody did. */
export function scores(d: { score: string; runnerUp: string; runnerUpScore: string }): string {
  const second = [d.runnerUp, d.runnerUpScore].filter((s) => s !== "").join(" ");
  return [d.score === "" ? "" : `Score ${d.score}`, second === "" ? "" : `runner-up ${second}`].filter((s) => s !== "").join(", ");
}

const BECAME: Record<string, string> = {
  pending: "waits",
  approved: "approved, not used yet",
  used: "approved and done",
  denied: "denied",
  expired: "expired",
};

/** becameText says what has become of an approval. */
export function becameText(status: string): string {
  return BECAME[status] ?? status;
}
