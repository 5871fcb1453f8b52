import { describe, expect, it } from "vitest";
import { parseEvent, parseTerminal } from "./wire";

const parse = (v: unknown) => parseEvent(JSON.stringify(v));

describe("parseEvent", () => {
  it.each([
    ["", "empty"],
    ["{", "broken JSON"],
    ["null", "null"],
    ["7", "a number"],
    ["[]", "an array"],
    ['{"event":"weather","pty":"a"}', "an unknown event"],
    ['{"event":"data","data":"x"}', "data without a terminal"],
    ['{"event":"toString","pty":"a"}', "an event that every object has"],
    ['{"event":["data"],"pty":"a"}', "an event in a list"],
    ['{"event":"list"}', "a list without items"],
    ['{"event":"snapshot","pty":"a","data":"x"}', "a snapshot without a size"],
    ['{"event":"snapshot","pty":"a","cols":0,"rows":24}', "a snapshot of no columns"],
    ['{"event":"resize","pty":"a","cols":1e9,"rows":24}', "a huge resize"],
    ['{"event":"resize","pty":"a","cols":"80","rows":24}', "a size in text"],
  ])("ignores %s (%s)", (frame) => {
    expect(parseEvent(frame)).toBeNull();
  });

  it("reads a snapshot", () => {
    const frame = {
      event: "snapshot",
      pty: "a",
      cols: 80,
      rows: 24,
      seq: 9,
      unicode: "11",
      reason: "connect",
      data: "\u001b[31mx",
    };
    expect(parse(frame)).toEqual({
      event: "snapshot",
      pty: "a",
      cols: 80,
      rows: 24,
      unicode: "11",
      reason: "connect",
      seq: 9,
      data: "\u001b[31mx",
    });
  });

  it("reads a resume", () => {
    expect(parse({ event: "resume", pty: "a", cols: 80, rows: 24, seq: 7 })).toEqual({
      event: "resume",
      pty: "a",
      cols: 80,
      rows: 24,
      seq: 7,
    });
    expect(parse({ event: "resume", pty: "a", seq: 7 })).toBeNull();
  });

  it("reads data, resize and pong", () => {
    expect(parse({ event: "data", pty: "a", seq: 1, data: "x" })).toEqual({
      event: "data",
      pty: "a",
      seq: 1,
      data: "x",
    });
    expect(parse({ event: "resize", pty: "a", cols: 1, rows: 1000, seq: 1 })).toEqual({
      event: "resize",
      pty: "a",
      cols: 1,
      rows: 1000,
      seq: 1,
    });
    expect(parse({ event: "pong", t: 3 })).toEqual({ event: "pong", t: 3 });
  });

  it("keeps only the fields of a meta event that are there", () => {
    expect(parse({ event: "meta", pty: "a", title: "" })).toEqual({ event: "meta", pty: "a", title: "" });
    expect(
      parse({
        event: "meta",
        pty: "a",
        bell: true,
        viewers: 2,
        notify: { title: "t" },
        size: { cols: 9, rows: 8 },
        owner: "v1",
        later: 1,
      }),
    ).toEqual({
      event: "meta",
      pty: "a",
      bell: true,
      viewers: 2,
      notify: { title: "t", body: "" },
      size: { cols: 9, rows: 8 },
    });
  });

  it("reads a write to the clipboard", () => {
    expect(parse({ event: "meta", pty: "a", clipboard: { selection: "c", data_b64: "aGk=" } })).toEqual({
      event: "meta",
      pty: "a",
      clipboard: { selection: "c", data_b64: "aGk=" },
    });
    expect(parse({ event: "meta", pty: "a", clipboard: "x" })).toEqual({ event: "meta", pty: "a" });
  });

  it("tells a missing exit code from 0", () => {
    expect(parse({ event: "exit", pty: "a", code: null, signal: "SIGKILL", reason: "signal" })).toEqual({
      event: "exit",
      pty: "a",
      seq: 0,
      code: null,
      signal: "SIGKILL",
      reason: "signal",
    });
    expect(parse({ event: "exit", pty: "a", code: 0, reason: "exit" })).toMatchObject({ code: 0, signal: "" });
    expect(parse({ event: "exit", pty: "a", code: "0" })).toMatchObject({ code: null, reason: "" });
  });

  it("reads errors with and without a terminal", () => {
    expect(parse({ event: "error", error: "no", code: "X" })).toEqual({
      event: "error",
      error: "no",
      code: "X",
    });
    expect(parse({ event: "error", pty: "a", error: "no", code: "NOT_FOUND" })).toMatchObject({ pty: "a" });
  });

  it("leaves out list items without an id and survives wrong types", () => {
    const event = parse({
      event: "list",
      items: [{ id: "a", cmd: "ls", viewers: "3", title: 7, exit: [] }, { name: "x" }, null],
    });
    expect(event).toMatchObject({
      event: "list",
      items: [{ id: "a", cmd: [], viewers: 0, title: "", exit: null, state: "" }],
    });
  });
});

describe("parseTerminal", () => {
  it("is null without an id", () => {
    expect(parseTerminal({ name: "x" })).toBeNull();
    expect(parseTerminal("x")).toBeNull();
  });
});
