import { describe, expect, it } from "vitest";
import table from "../../../cmd/evertty/testdata/predictions.txt?raw";
import { type Place, Predictor } from "./predictor";

const modes = {
  editing: { echo: false, canonical: false, editing: true },
  echo: { echo: true, canonical: true, editing: false },
  secret: { echo: false, canonical: true, editing: false },
  raw: { echo: false, canonical: false, editing: false },
};

/** Script is a predictor on a line of 100 ms, at a prompt that came at 0, and what happens to it. */
class Script {
  now = 0;
  rtt = 100;
  blocked = false;
  row = "$ ";
  extra: Partial<Place> = {};
  readonly predictor = new Predictor({
    place: () => ({
      x: this.row.length,
      cols: 20,
      alternate: false,
      inText: false,
      text: (from, to) => this.row.padEnd(20).slice(from, to),
      ...this.extra,
    }),
    now: () => this.now,
    rtt: () => (this.blocked ? 0 : this.rtt),
  });

  constructor() {
    this.predictor.setMode(modes.editing);
    this.predictor.disturb();
    this.predictor.output();
  }

  /** step does one step and returns what is shown. */
  step(ms: number, event: string, arg: string): string {
    this.now = ms;
    const on = arg === "on";
    if (event === "key") this.predictor.typed(arg);
    else if (event === "out") this.row = arg;
    else if (event === "mode") this.predictor.setMode(modes[arg as keyof typeof modes]);
    else if (event === "rtt") this.rtt = Number(arg);
    else if (event === "blocked") this.blocked = on;
    else if (event === "alt") this.extra.alternate = on;
    else if (event === "text") this.extra.inText = on;
    else this.predictor.check();
    if (event === "out" || event === "alt") this.predictor.output();
    const p = this.predictor.predicted();
    if (p === null) return "";
    const end = p.cursor - p.column;
    return p.text.slice(0, end) + "_".repeat(p.text.length - end - 1); // its last cell is where the cursor was
  }
}

const scripts = table
  .trim()
  .split("\n\n")
  .slice(1)
  .map((script) => script.split("\n"));

describe("Predictor", () => {
  it.each(scripts)("does as attach: %s", (...[, ...steps]: string[]) => {
    const script = new Script();
    for (const step of steps) {
      const [, ms, event, arg = "", want] = step.match(/^(\d+) (\w+)(?: (".*?"|\w+))?(?: => (".*"))?$/) ?? [step];
      if (ms === undefined || event === undefined) throw new Error(`no step: ${step}`);
      const shown = script.step(Number(ms), event, arg.startsWith('"') ? JSON.parse(arg) : arg);
      if (want !== undefined) expect(`${step.split(" => ")[0]} => "${shown}"`).toBe(step);
    }
  });

  it("is to be asked again when a prediction times out, or a row is wrong", () => {
    const script = new Script();
    expect(script.predictor.due()).toBe(null);
    script.step(1000, "key", "a");
    script.step(1100, "out", "$ a");
    expect(script.predictor.due()).toBe(null);
    script.step(1200, "key", "b");
    expect(script.predictor.due()).toBe(300);
    script.step(1250, "out", "$ *");
    expect(script.predictor.due()).toBe(30);
  });

  it("remembers few prompts, and waits for few keys", () => {
    const script = new Script();
    const at = (i: number, prompt: string): string => {
      const ms = 1000 * (i + 1);
      script.step(ms, "key", "\r");
      script.step(ms + 100, "out", prompt);
      const shown = script.step(ms + 300, "key", "a");
      script.step(ms + 400, "out", `${prompt}a`);
      return shown;
    };
    for (let i = 0; i < 9; i++) at(i, `${i}> `);
    expect([at(10, "8> "), at(11, "1> "), at(12, "0> ")]).toEqual(["a", "a", ""]);
    for (let i = 0; i < 1000; i++) script.step(20_000, "key", i % 2 === 0 ? "a" : "\x7f");
    expect(script.step(20_001, "key", "b")).toMatch(/^.?$/);
  });
});
