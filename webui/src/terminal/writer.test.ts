import type { Terminal } from "@xterm/xterm";
import { describe, expect, it } from "vitest";
import { headlessTerminal, parsed, screen } from "../../testing/headless";
import { MAX_BACKLOG, Writer } from "./writer";

const ESC = "\x1b";
const nothing = (): void => {};

/** done resolves when the writer has applied all of its steps. */
const done = (writer: Writer): Promise<void> => new Promise((resolve) => writer.run(resolve));

/** asked is the terminal's own answer to a query: state that no other interface shows. */
async function asked(term: Terminal, query: string): Promise<string> {
  let answer = "";
  const listener = term.onData((d) => (answer += d));
  await parsed(term, query);
  listener.dispose();
  return answer;
}

async function state(term: Terminal): Promise<object> {
  const cell = term.buffer.active.getLine(term.buffer.active.baseY)?.getCell(0);
  return {
    screen: screen(term),
    size: [term.cols, term.rows],
    modes: term.modes,
    lines: term.buffer.active.length,
    type: term.buffer.active.type,
    pen: [cell?.getFgColor(), cell?.isBold()],
    cursor: await asked(term, `${ESC}[6n`),
    visible: await asked(term, `${ESC}[?25$p`),
    margins: await asked(term, `${ESC}P$qr${ESC}\\`),
    shape: await asked(term, `${ESC}P$q q${ESC}\\`),
  };
}

/** What a program may leave behind; the last row leaves the parser inside a sequence. */
const leftovers: [string, string][] = [
  ["text and history", "old\r\n".repeat(400)],
  ["pen, margins and origin", `${ESC}[1;31m${ESC}[5;9r${ESC}[?6hx`],
  ["hidden cursor", `${ESC}[?25l`],
  ["cursor shape", `${ESC}[5 q`],
  ["alternate screen and mouse", `${ESC}[?1049h${ESC}[?1003h${ESC}[?1006h${ESC}[?2004h${ESC}[?1004hfull`],
  ["line drawing", `${ESC}(0${ESC})0\x0elqk`],
  ["insert mode, no wrap", `${ESC}[4h${ESC}[?7l`],
  ["tabs", `${ESC}[3g`],
  ["half a CSI", `${ESC}[1;2`],
  ["half an OSC", `${ESC}]0;tit`],
  ["half a DCS", `${ESC}P$q`],
  ["half an escape", ESC],
];

describe("Writer", () => {
  it.each(leftovers)("shows a snapshot after %s as a new terminal would", async (_, leftover) => {
    const data = `ab\tc\r\n${ESC}[32mgreen`;
    const used = headlessTerminal(80, 24);
    const writer = new Writer(used);
    writer.write(leftover);
    await done(writer);
    writer.replace(40, 10, data, nothing);
    await done(writer);

    const fresh = headlessTerminal(40, 10);
    await parsed(fresh, data);
    expect(await state(used)).toEqual(await state(fresh));
    expect(await state(used)).not.toMatchObject({ screen: "" });
  });

  it("does not run the unfinished sequence that a snapshot replaces", async () => {
    const term = headlessTerminal();
    const titles: string[] = [];
    term.onTitleChange((t) => titles.push(t));
    const writer = new Writer(term);
    writer.write(`${ESC}]0;half a ti`);
    await done(writer);
    writer.replace(80, 24, "x", nothing);
    await done(writer);
    expect(titles).toEqual([]);
  });

  it("never lets older output into a newer screen", async () => {
    const term = headlessTerminal();
    const writer = new Writer(term);
    for (let i = 0; i < 50; i++) writer.write(`old ${i}\r\n`);
    writer.replace(20, 5, "new", nothing);
    writer.write(" and more");
    await done(writer);
    expect(screen(term)).toBe("new and more");
    expect(term.buffer.active.length).toBe(5);
  });

  it("drops output that a snapshot supersedes instead of parsing it", async () => {
    const term = headlessTerminal();
    const titles: string[] = [];
    term.onTitleChange((t) => titles.push(t));
    const writer = new Writer(term);
    writer.write("is being parsed");
    writer.write(`${ESC}]0;waits\x07`);
    writer.replace(80, 24, `${ESC}]0;new\x07`, nothing);
    await done(writer);
    expect(titles).toEqual(["new"]);
  });

  it("resizes in its place in the stream", async () => {
    const term = headlessTerminal(10, 4);
    const writer = new Writer(term);
    // Wrapped at 10 columns, then joined by the resize; the second text fills exactly one row of 20.
    writer.write(`${"a".repeat(12)}\r\n`);
    writer.run(() => term.resize(20, 4));
    writer.write("b".repeat(20));
    await done(writer);
    expect(screen(term)).toBe(`${"a".repeat(12)}\n${"b".repeat(20)}`);
  });

  it("calls `before` between the old and the new screen", async () => {
    const term = headlessTerminal();
    const writer = new Writer(term);
    writer.write("old");
    await done(writer);
    let between = "?";
    writer.replace(80, 24, "new", () => (between = screen(term)));
    await done(writer);
    expect(between).toBe("");
  });

  it("does not count a snapshot as backlog, however large", async () => {
    const writer = new Writer(headlessTerminal());
    writer.replace(80, 24, "x".repeat(MAX_BACKLOG + 1), nothing);
    expect(writer.write("y")).toBe(true);
    await done(writer);
    expect(writer.write("y")).toBe(true);
  });

  it("reports a backlog over its bound and is empty again after clear", async () => {
    const term = headlessTerminal();
    const writer = new Writer(term);
    const chunk = "x".repeat(MAX_BACKLOG / 8);
    const accepted = Array.from({ length: 10 }, () => writer.write(chunk));
    expect(accepted.at(0)).toBe(true);
    expect(accepted.at(-1)).toBe(false);
    writer.clear();
    expect(writer.write("y")).toBe(true);
    await done(writer);
    expect(screen(term).endsWith("y")).toBe(true);
  });
});
