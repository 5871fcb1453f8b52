import { describe, expect, it } from "vitest";
import { headlessTerminal, parsed, screen } from "../../testing/headless";
import { mute } from "./mute";

const ESC = "\x1b";
const queries: [string, string][] = [
  ["DA1", `${ESC}[c`],
  ["DA1 with 0", `${ESC}[0c`],
  ["DA2", `${ESC}[>c`],
  ["DA3", `${ESC}[=c`],
  ["DECID", `${ESC}Z`],
  ["DSR", `${ESC}[5n`],
  ["CPR", `${ESC}[6n`],
  ["DECXCPR", `${ESC}[?6n`],
  ["printer status", `${ESC}[?15n`],
  ["DECRQM ANSI", `${ESC}[4$p`],
  ["DECRQM DEC", `${ESC}[?2026$p`],
  ["XTVERSION", `${ESC}[>0q`],
  ["kitty keyboard", `${ESC}[?u`],
  ["XTWINOPS size", `${ESC}[18t`],
  ["XTWINOPS pixels", `${ESC}[14t`],
  ["XTWINOPS title", `${ESC}[21t`],
  ["DECRQSS", `${ESC}P$qm${ESC}\\`],
  ["DECRQSS invalid", `${ESC}P$qzzz${ESC}\\`],
  ["XTGETTCAP", `${ESC}P+q544e${ESC}\\`],
  ["OSC 4", `${ESC}]4;1;?\x07`],
  ["OSC 10", `${ESC}]10;?${ESC}\\`],
  ["OSC 11", `${ESC}]11;?\x07`],
  ["OSC 12", `${ESC}]12;?\x07`],
  ["OSC 10 and 11", `${ESC}]10;?;?\x07`],
  ["ENQ", "\x05"],
];

/** Replies of an unmuted terminal prove that the muted one had something to swallow. */
const answered = new Set([
  "DA1",
  "DA1 with 0",
  "DA2",
  "DSR",
  "CPR",
  "DECXCPR",
  "DECRQM ANSI",
  "DECRQM DEC",
  "DECRQSS",
  "DECRQSS invalid",
  "XTWINOPS size",
]);

async function sent(data: string, muted: boolean): Promise<string[]> {
  const term = headlessTerminal();
  term.options.windowOptions = { getWinSizeChars: true };
  const out: string[] = [];
  const muting = muted ? mute(term.parser) : null;
  term.onData((d) => !muting?.active() && out.push(d));
  term.onBinary((d) => out.push(d));
  await parsed(term, data);
  term.dispose();
  return out;
}

describe("mute", () => {
  it.each(queries)("%s stays unanswered", async (name, query) => {
    expect(await sent(query, true)).toEqual([]);
    expect((await sent(query, false)).length > 0).toBe(answered.has(name));
  });

  it("stays silent when all queries arrive at once, cut at any place", async () => {
    const all = queries.map(([, query]) => query).join("x");
    const term = headlessTerminal();
    const out: string[] = [];
    mute(term.parser);
    term.onData((d) => out.push(d));
    for (let cut = 0; cut <= all.length; cut++) {
      await parsed(term, `${ESC}[2J${ESC}[H${all.slice(0, cut)}`);
      await parsed(term, all.slice(cut));
      expect(screen(term)).toBe("x".repeat(queries.length - 1));
    }
    expect(out).toEqual([]);
    term.dispose();
  });

  it("is active for the parse of a sequence that both sets and asks, and no longer", async () => {
    const term = headlessTerminal();
    const muted = mute(term.parser);
    const during: boolean[] = [];
    term.parser.registerOscHandler(777, () => {
      during.push(muted.active());
      return true;
    });
    const probe = `${ESC}]777;\x07`;
    await parsed(term, `${probe}${ESC}]4;1;?;2;#ffffff\x07${probe}`);
    await parsed(term, `${probe}${ESC}[?1004h${probe}`);
    await parsed(term, `${probe}${ESC}[?25h${ESC}]11;#000000\x07${probe}`);
    expect(during).toEqual([false, true, false, true, false, false]);
    expect(muted.active()).toBe(false);
    expect(term.modes.sendFocusMode).toBe(true);
    term.dispose();
  });

  it("leaves everything else to xterm.js", async () => {
    const term = headlessTerminal();
    mute(term.parser);
    const titles: string[] = [];
    term.onTitleChange((t) => titles.push(t));
    await parsed(term, `${ESC}]0;title\x07${ESC}[?2004h${ESC}[?1h${ESC}[2;3Hx`);
    expect(titles).toEqual(["title"]);
    expect(term.modes.bracketedPasteMode).toBe(true);
    expect(screen(term)).toBe("\n  x");
    term.dispose();
  });

  it("lets what the user does through", async () => {
    const term = headlessTerminal();
    const muted = mute(term.parser);
    const out: string[] = [];
    term.onData((d) => !muted.active() && out.push(d));
    await parsed(term, `${ESC}[?1004h`);
    term.input("a");
    expect(out).toEqual(["a"]);
    term.dispose();
  });
});
