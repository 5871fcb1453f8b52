import { describe, expect, it } from "vitest";
import { exactJSON, guard } from "./guard";
import { parseApprovals, parseTimeline, time } from "./wire";
import * as wire from "./wire.gen";

describe("parseTimeline", () => {
  it("numbers the decisions and keeps what they say", () => {
    const timeline = parseTimeline(
      {
        first_seq: 7,
        timeline: [
          {
            kind: "route",
            mode: "plan",
            reason_code: "r",
            route_score: 0.5,
            runner_up_mode: "act",
            runner_up_score: 0,
            evidence_provenance: [
              { source: "cmd_1", command_id: "1" },
              { source: "x", command_id: "2" },
            ],
            signal_summary: ["s"],
            artifact_paths: [],
          },
          {},
        ],
      },
      {
        derived: true,
        completion_trace: [
          {
            stage: "verify",
            outcome: "accept",
            decision_code: "done",
            decision_summary: "It works",
            evidence_summary: ["e", 3],
          },
        ],
      },
    );
    expect(timeline.decisions.map((d) => d.seq)).toEqual([7, 8]);
    expect(timeline.decisions[0]).toMatchObject({
      score: "0.5",
      runner_up_mode: "act",
      runnerUp: "0",
      signal_summary: ["s"],
      artifact_paths: [],
    });
    expect(timeline.decisions[0]?.evidence_provenance?.map((e) => e.command_id)).toEqual(["1", "2"]);
    expect(timeline.decisions[1]).toMatchObject({ score: "", signal_summary: [] });
    expect(timeline).toMatchObject({
      derived: true,
      trace: [{ stage: "verify", outcome: "accept", decision_summary: "It works", evidence_summary: ["e"] }],
    });
    expect(parseTimeline(null, 3)).toEqual({ decisions: [], trace: [], derived: false });
  });
});

describe("guard", () => {
  it("gives every field its kind, whatever is missing", () => {
    expect(guard(wire.Ledger, { assumptions: [{ text: "a", introduced_phase: 7 }, 3] })).toEqual({
      assumptions: [{ text: "a", introduced_phase: null, updated_phase: null, evidence: [] }],
      acceptance_anchors: [],
      decision_boundaries: [],
    });
    expect(guard(wire.Usage, { input_tokens: 12, turns: "x" })).toMatchObject({ input_tokens: 12, turns: 0 });
    expect(guard(wire.Permissions, { mode: "prompt", active: true, rule_counts: { allow: 2 } })).toMatchObject({
      mode: "prompt",
      active: true,
      rule_counts: { allow: 2, deny: 0, ask: 0 },
    });
    for (const v of [null, undefined, 7, "x", [], [[]]])
      expect(guard(wire.Permissions, v)).toMatchObject({ mode: "", active: false, rule_counts: { ask: 0 } });
  });

  it("leaves out what does not fit, and fields that it does not know", () => {
    const given = '{"id": "t", "env": {"A": "1", "B": 2, "__proto__": "x"}, "cmd": ["ls", 3, null], "later": 1}';
    const t = guard(wire.Terminal, JSON.parse(given));
    expect([Object.entries(t.env), t.cmd, "later" in t, "damage" in t]).toEqual([
      [
        ["A", "1"],
        ["__proto__", "x"],
      ],
      ["ls"],
      false,
      false,
    ]);
  });

  it("takes no number that is not finite", () => {
    expect(guard(wire.Size, JSON.parse('{"cols": 1e999, "rows": 24}'))).toEqual({ cols: 0, rows: 24 });
  });
});

describe("the other documents", () => {
  it("are read, whatever is missing", () => {
    const given = {
      id: "a",
      tool: "exec",
      arguments: { command: "true" },
      status: "pending",
      hidden: { A: "1", B: 2 },
    };
    const [one, ...more] = parseApprovals({ approvals: [given, {}] });
    expect(one).toMatchObject({ id: "a", arguments: { command: "true" }, hidden: { B: 2 } });
    expect([more, one?.expires_at]).toEqual([[], undefined]);
    expect([time("2026-01-02T03:04:05Z"), time("never"), time(null)]).toEqual([1767323045000, 0, 0]);
  });
});

describe("exactJSON", () => {
  it("is JSON.parse", () => {
    expect(exactJSON('{"a":[1,"2",null,0.5]}')).toEqual({ a: [1, "2", null, 0.5] });
    expect(() => exactJSON("{")).toThrow(SyntaxError);
  });

  it.runIf("rawJSON" in JSON)("keeps numbers as they were written", () => {
    const { decisions } = parseTimeline(
      exactJSON('{"timeline":[{"route_score":0.20,"runner_up_score":12345678901234567890}]}'),
      null,
    );
    expect([decisions[0]?.score, decisions[0]?.runnerUp]).toEqual(["0.20", "12345678901234567890"]);
  });
});
