import { signal } from "@preact/signals";
import type { Clipboard } from "../api/wire";
import type { Settings } from "../browser";

/**
 * A program's write to the clipboard reaches it only when the user said yes for that terminal: whatever runs there,
 * also on another machine, could otherwise replace what they are about to paste.
 */

/** Waiting is a write that needs the user: for a yes, or for the click without which the browser refuses. */
export interface Waiting {
  text: string;
  why: "ask" | "click";
}

interface Deps {
  settings: Pick<Settings, "get" | "set">;
  /** Puts text on the clipboard and reports whether the browser let the page. */
  write(text: string): Promise<boolean>;
  /** Called when the browser did not let the page although the user clicked. */
  refused(): void;
}

/** Where the answers are kept, by terminal. */
const KEY = "evertty.clipboard";
/** Largest write taken, in characters of base64: 1 MiB, as the server's. */
const MAX_B64 = Math.ceil((1 << 20) / 3) * 4;
/** Answers kept; the oldest give way. A terminal's id never comes again. */
const MAX_ANSWERS = 500;

/** isClipboard tells whether a selection of OSC 52 means the clipboard: programs name it c, or nothing. */
const isClipboard = (selection: string): boolean => selection === "" || selection.includes("c");

/** decoded is the text of a write; null when it is none. */
function decoded(b64: string): string | null {
  if (b64.length > MAX_B64) return null;
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(b64), (c) => c.charCodeAt(0)));
  } catch {
    return null;
  }
}

/** ClipboardAccess asks the user once for each terminal. */
export class ClipboardAccess {
  /** What waits for the user, by terminal; the newest of each. */
  readonly waiting = signal<ReadonlyMap<string, Waiting>>(new Map());
  private answers: ReadonlyMap<string, boolean>;

  constructor(private readonly deps: Deps) {
    this.answers = new Map(this.load());
  }

  /** offer takes a program's write: it is done, waits for the user, or is dropped. */
  async offer(pty: string, write: Clipboard): Promise<void> {
    const text = isClipboard(write.selection) ? decoded(write.data_b64) : null;
    if (text === null) return;
    const answer = this.answers.get(pty);
    if (answer === undefined) this.wait(pty, { text, why: "ask" });
    else if (answer) await this.put(pty, text);
  }

  /** answer is the user's, for this terminal from now on. Call it in the handler of a click. */
  async answer(pty: string, allowed: boolean): Promise<void> {
    const others = [...this.answers].filter(([id]) => id !== pty);
    const answers = [...others, [pty, allowed] as const].slice(-MAX_ANSWERS);
    this.answers = new Map(answers);
    this.deps.settings.set(KEY, JSON.stringify(answers));
    if (allowed) await this.copy(pty);
    else this.drop(pty);
  }

  /** copy does the write that waits for a click. Call it in the handler of one. */
  async copy(pty: string): Promise<void> {
    const waits = this.waiting.peek().get(pty);
    this.drop(pty);
    if (waits && !(await this.put(pty, waits.text))) this.deps.refused();
  }

  /** drop forgets what waits; the terminal is asked about again at its next write unless it was answered. */
  drop(pty: string): void {
    const rest = new Map(this.waiting.peek());
    if (rest.delete(pty)) this.waiting.value = rest;
  }

  /** retain drops what waits for terminals that are gone. */
  retain(ids: ReadonlySet<string>): void {
    for (const id of this.waiting.peek().keys()) if (!ids.has(id)) this.drop(id);
  }

  /** put reports whether it wrote; else the text waits for a click. */
  private async put(pty: string, text: string): Promise<boolean> {
    const written = await this.deps.write(text);
    if (written)
      this.drop(pty); // an older one that waits for a click
    else this.wait(pty, { text, why: "click" });
    return written;
  }

  private wait(pty: string, w: Waiting): void {
    this.waiting.value = new Map(this.waiting.peek()).set(pty, w);
  }

  private load(): [string, boolean][] {
    try {
      const list: unknown = JSON.parse(this.deps.settings.get(KEY) ?? "[]");
      if (!Array.isArray(list)) return [];
      const isAnswer = (a: unknown): a is [string, boolean] =>
        Array.isArray(a) && typeof a[0] === "string" && typeof a[1] === "boolean";
      return list.filter(isAnswer);
    } catch {
      return [];
    }
  }
}
