import { describe, expect, it } from "vitest";
import { type Decision, parseTimeline } from "../api/wire";
import { facts, sources } from "./text";

function decision(fields: object): Decision {
  const [first] = parseTimeline({ timeline: [fields] }, null).decisions;
  if (first === undefined) throw new Error("not a decision");
  return first;
}

describe("facts", () => {
  it("say scores as they were written", () => {
    const scored = decision({ route_score: 0.2, runner_up_mode: "act", runner_up_score: 0.1 });
    expect(facts({ ...scored, score: "0.20" })).toEqual(["Score 0.20, runner-up act 0.1"]);
    expect(facts(decision({}))).toEqual([]);
  });

  it("say what comes next, the policy and the decision", () => {
    const d = { scheduled_next_mode: "act", policy_stage: "verify", policy_outcome: "accept", decision_kind: "go" };
    expect(facts(decision({ ...d, clarify_stage: "early", clarify_pressure_kind: "low" }))).toEqual([
      "next act",
      "policy verify → accept",
      "decided go",
      "clarify early, low",
    ]);
  });
});

describe("sources", () => {
  it("name the command unless the source does", () => {
    const provenance = [
      { source: "cmd_1", command_id: "1" },
      { source: "x", command_id: "2", category: "file" },
    ];
    const { evidence_provenance } = decision({ evidence_provenance: provenance });
    expect(evidence_provenance?.map(sources)).toEqual([["cmd_1"], ["file", "x", "command 2"]]);
  });
});
