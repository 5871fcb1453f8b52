import { describe, expect, it } from "vitest";
import { type Place, Predictor } from "./predictor";

const RTT = 200;
const editing = { echo: false, canonical: false, editing: true };
const cooked = { echo: true, canonical: true, editing: false };
const password = { echo: false, canonical: true, editing: false };

/** Line is a terminal of one row, with a program that shows `row` and the cursor behind it. */
class Line {
  now = 10_000;
  rtt = RTT;
  row = "$ ";
  extra: Partial<Place> = {};
  readonly predictor = new Predictor({
    place: () => ({
      x: this.row.length,
      cols: 40,
      alternate: false,
      inText: false,
      text: (from, to) => this.row.padEnd(40).slice(from, to),
      ...this.extra,
    }),
    now: () => this.now,
    rtt: () => this.rtt,
  });

  constructor(mode = editing) {
    this.predictor.setMode(mode);
  }

  /** type types characters, 30 ms between two. */
  type(text: string): this {
    for (const c of text) {
      this.predictor.typed(c);
      this.wait(30);
    }
    return this;
  }

  /** prints has the terminal show a row. */
  prints(row: string): this {
    this.row = row;
    this.predictor.output();
    return this;
  }

  /** wait lets time go by, with the checks that are due. */
  wait(ms: number): this {
    for (const end = this.now + ms; this.now < end; this.now++) {
      if (this.predictor.due() === 0) this.predictor.check();
    }
    this.predictor.check();
    return this;
  }

  /** shows is the row as the user sees it, with the predicted part in brackets; the cursor is | in it. */
  get shows(): string {
    const p = this.predictor.predicted();
    if (p === null) return this.row;
    const at = p.cursor - p.column;
    return `${this.row.padEnd(40).slice(0, p.column)}[${p.text.slice(0, at)}|${p.text.slice(at)}]`;
  }
}

/** sure is a line at whose prompt a prediction was right. */
const sure = (mode = editing): Line => {
  const line = new Line(mode).type("a").wait(RTT).prints("$ a");
  line.predictor.typed("\r");
  return line.wait(RTT).prints("$ ").wait(100);
};

describe("Predictor", () => {
  it("shows predictions once one was right", () => {
    const line = new Line().type("ls");
    expect(line.shows).toBe("$ ");
    line.wait(RTT - 60).prints("$ l");
    expect(line.shows).toBe("$ l[s| ]");
    line.type(" -");
    expect(line.shows).toBe("$ l[s -| ]");
    line.wait(RTT).prints("$ ls -");
    expect(line.shows).toBe("$ ls -");
  });

  it("shows them at once behind a prompt where one was right", () => {
    expect(sure().type("l").shows).toBe("$ [l| ]");
    expect(sure().prints("other$ ").wait(100).type("l").shows).toBe("other$ ");
  });

  it("does not take a row without a prompt for a known one", () => {
    const line = new Line(cooked).prints("").wait(100).type("a").wait(RTT).prints("a");
    line.predictor.typed("\r");
    expect(line.wait(RTT).prints("").wait(100).type("b").shows).toBe("");
  });

  it("knows Backspace in what was typed, and no further", () => {
    const line = sure().type("ab\x7f");
    expect(line.shows).toBe("$ [a| ]");
    line.wait(RTT).prints("$ a").type("\x7f");
    expect(line.shows).toBe("$ [|  ]");
    line.wait(RTT).prints("$ ").type("\x7fx");
    expect(line.shows).toBe("$ ");
  });

  it("tells two states with the same text apart", () => {
    const line = sure().type("ag\x7fh");
    line.wait(RTT - 120).prints("$ a");
    expect(line.shows).toBe("$ a[h| ]");
    line.wait(30).prints("$ ag");
    expect(line.shows).toBe("$ a[h| ]");
    expect(line.wait(30).prints("$ a").shows).toBe("$ a[h| ]");
    expect(line.wait(30).prints("$ ah").shows).toBe("$ ah");
    line.type("x\x7f").wait(RTT); // the two come as one output
    expect([line.prints("$ ah").wait(RTT).predictor.due(), line.type("y").shows]).toEqual([null, "$ ah[y| ]"]);
  });

  it.each([
    ["without an echo", () => new Line(password)],
    ["on a fast line", () => Object.assign(sure(), { rtt: 40 })],
    ["on the alternate screen", () => Object.assign(sure(), { extra: { alternate: true } })],
    ["before the rest of a line", () => Object.assign(sure(), { extra: { inText: true } })],
    ["at the right margin", () => sure().prints("$ ".padStart(39)).wait(100)],
  ])("predicts nothing %s", (_, make) => {
    const line = make();
    const before = line.row;
    line.type("abc").wait(RTT);
    expect([line.shows, line.predictor.due()]).toEqual([before, null]);
  });

  it.each(["\x1b[A", "\t", "\x03", "é", "漢", "two", "\x1b[200~x\x1b[201~"])("predicts nothing behind %j", (key) => {
    const line = sure();
    line.predictor.typed(key);
    expect(line.type("b").shows).toBe("$ ");
    line.wait(RTT).prints("$ xb").wait(100).type("c"); // its effect has come: another text, which has to be right first
    expect(line.shows).toBe("$ xb");
    line.wait(RTT).prints("$ xbc").type("d");
    expect(line.shows).toBe("$ xbc[d| ]");
  });

  it("forgets what is predicted when the mode changes, as for a password", () => {
    const line = sure().type("ab");
    expect(line.shows).toBe("$ [ab| ]");
    line.predictor.setMode(password);
    expect(line.type("c").shows).toBe("$ ");
  });

  it("keeps what is pending on Enter until it has come", () => {
    const line = sure().type("ab");
    line.predictor.typed("\r");
    expect(line.wait(RTT - 60).prints("$ a").shows).toBe("$ a[b| ]");
    expect(line.prints("out").shows).toBe("out");
    expect(line.wait(40).prints("$ ").wait(RTT).type("x").shows).toBe("$ [x| ]");
  });

  it("waits for the effect of Enter, however fast one types", () => {
    const line = sure();
    line.predictor.typed("\r");
    expect(line.type("secret").shows).toBe("$ ");
    line.prints("Password: ");
    line.predictor.setMode(password);
    expect(line.wait(RTT * 3).type("secret").shows).toBe("Password: ");
  });

  it("takes back what does not come within three round trips", () => {
    const line = sure().type("x");
    expect(line.wait(3 * RTT - 40).shows).toBe("$ [x| ]");
    expect(line.wait(20).shows).toBe("$ ");
    expect(line.wait(RTT).type("y").shows).toBe("$ "); // nothing is known of this prompt any more
  });

  it("takes back what is wrong, unless the program is still painting", () => {
    const line = sure().type("abbr ");
    line.wait(RTT).prints("$ ").wait(10).prints("$ abbr ");
    expect(line.type("x").shows).toBe("$ abbr [x| ]");
    line.prints("$ an expanded one").wait(40);
    expect([line.shows, line.predictor.due()]).toEqual(["$ an expanded one", null]);
    expect(line.type("y").shows).toBe("$ an expanded one");
  });

  it("is bounded", () => {
    const line = sure();
    for (let i = 0; i < 1000; i++) line.predictor.typed(i % 2 === 0 ? "a" : "\x7f");
    line.wait(1);
    expect(line.shows).toMatch(/^\$ \[a?\|/);
  });
});
