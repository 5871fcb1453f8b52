import type { ClientMessage } from "../api/wire";

/** Sticky is the on-screen Ctrl and Alt: they hold for the next key. */
export interface Sticky {
  ctrl: boolean;
  alt: boolean;
}

export const released: Sticky = { ctrl: false, alt: false };

/** withSticky puts the held modifiers in front of a key name (`C-M-Up`). */
export const withSticky = (key: string, held: Sticky): string => (held.ctrl ? "C-" : "") + (held.alt ? "M-" : "") + key;

/** Characters that have a name among the server's keys. */
const NAMES: Record<string, string> = { "\r": "Enter", "\t": "Tab", "\x1b": "Escape", " ": "Space", "\x7f": "BSpace" };

/** keyOf is the server's name of the key that begins `data`, or null when it is no single key with a name. */
function keyOf(data: string): string | null {
  const first = data.charAt(0);
  if (first === "\x1b" && data.length > 1) return null;
  return NAMES[first] ?? (/[!-~]/.test(first) ? first : null);
}

/**
 * typed turns text from xterm.js into messages for terminal `pty`. With a held modifier its first character
 * becomes a named key, the rest stays text: a phone's keyboard may deliver a whole word at once. Characters
 * outside ASCII and whole escape sequences have no such name and stay text.
 */
export function typed(pty: string, data: string, held: Sticky): ClientMessage[] {
  if (data === "") return [];
  const key = held.ctrl || held.alt ? keyOf(data) : null;
  if (key === null) return [{ type: "input", pty, data }];
  const name = held.ctrl && key.length === 1 ? key.toLowerCase() : key;
  const messages: ClientMessage[] = [{ type: "keys", pty, keys: [withSticky(name, held)] }];
  if (data.length > 1) messages.push({ type: "input", pty, data: data.slice(1) });
  return messages;
}

/** Shortcut is a chord the page keeps for itself; everything else belongs to the program. */
export type Shortcut = "copy" | "search" | null;

/** looksBack tells the keys by which xterm.js scrolls up or selects all of the history. */
export const looksBack = (e: Chord): boolean =>
  (e.key === "PageUp" && e.shiftKey) || (e.key.toLowerCase() === "a" && e.metaKey);

type Chord = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "shiftKey" | "altKey" | "metaKey">;

/** shortcutOf goes by the letter typed, or by the key's position on a layout without Latin letters. */
export function shortcutOf(e: Chord): Shortcut {
  if (!e.ctrlKey || !e.shiftKey || e.altKey || e.metaKey) return null;
  const letter = /^[a-z]$/i.test(e.key) ? e.key.toLowerCase() : e.code.replace("Key", "").toLowerCase();
  if (letter === "c") return "copy";
  if (letter === "f") return "search";
  return null;
}
