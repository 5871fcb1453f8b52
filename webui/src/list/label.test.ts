import { describe, expect, it } from "vitest";
import { parseTerminal, type Terminal } from "../api/wire";
import { detailOf, exitText, failed, nameOf, stateText, titleOf } from "./label";

const info = (more: object): Terminal => {
  const parsed = parseTerminal({ id: "pty-1", session: "main", cmd: ["bash", "-l"], ...more });
  if (parsed === null) throw new Error("not an info");
  return parsed;
};

describe("names", () => {
  it("prefers name, then title, then command, then id", () => {
    expect(nameOf(info({ name: "build", title: "vim" }))).toBe("build");
    expect(nameOf(info({ title: "vim" }))).toBe("vim");
    expect(nameOf(info({}))).toBe("bash -l");
    expect(nameOf(info({ cmd: [] }))).toBe("pty-1");
  });

  it("says below what the name did not say", () => {
    expect(detailOf(info({ name: "build", title: "vim", cwd: "/x" }))).toBe("vim");
    expect(detailOf(info({ title: "vim", cwd: "/x" }))).toBe("/x");
    expect(detailOf(info({}))).toBe("");
  });

  it("titles the document by the program's title first", () => {
    expect(titleOf(info({ name: "build", title: "vim" }))).toBe("vim");
    expect(titleOf(info({ name: "build" }))).toBe("build");
  });
});

describe("exitText", () => {
  it.each([
    ["exited", { code: 3, signal: "", reason: "exit" }, "Exited with code 3."],
    ["exited", { code: 0, signal: "", reason: "exit" }, "Exited with code 0."],
    ["exited", { code: null, signal: "SIGKILL", reason: "signal" }, "Exited on signal SIGKILL."],
    ["exited", { code: null, signal: "SIGHUP", reason: "killed" }, "Closed on signal SIGHUP."],
    ["exited", null, "Exited."],
    ["lost", { code: null, signal: "", reason: "lost" }, "Lost: its process is gone. This is its last screen."],
    ["restored", null, "Restored from its last saved screen; its process did not survive the restart."],
  ])("%s %o", (state, exit, text) => {
    expect(exitText(state, exit)).toBe(text);
  });
});

describe("stateText", () => {
  it.each([
    ["running", null, "running", false],
    ["exited", { code: 0, signal: "", reason: "exit" }, "exited 0", false],
    ["exited", { code: 3, signal: "", reason: "exit" }, "exited 3", true],
    ["exited", { code: 137, signal: "KILL", reason: "signal" }, "SIGKILL", true],
    ["exited", { code: 129, signal: "SIGHUP", reason: "killed" }, "SIGHUP", false],
    ["exited", null, "exited", false],
    ["lost", { code: null, signal: "", reason: "lost" }, "lost", false],
  ])("%s %o", (state, exit, text, bad) => {
    expect(stateText(info({ state, exit }))).toBe(text);
    expect(failed(info({ state, exit }))).toBe(bad);
  });
});
