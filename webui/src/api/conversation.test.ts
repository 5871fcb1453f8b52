import { describe, expect, it } from "vitest";
import { begin, exactJSON, MAX_ITEMS, MAX_TEXT } from "./decode";
import { parseApprovals, parseLedger, parseMessages, parsePermissions, parseTimeline, parseUsage } from "./wire";

const whole = <T>(...items: T[]) => ({ items, left: 0 });
const t = (text: string) => ({ text, left: 0 });

describe("begin", () => {
  it("cuts between characters and says how much is left out", () => {
    expect(begin("abc", 3)).toEqual({ text: "abc", left: 0 });
    expect(begin("abcd", 3)).toEqual({ text: "abc", left: 1 });
    expect(begin("ab😀d", 3)).toEqual({ text: "ab", left: 3 });
  });
});

describe("parseMessages", () => {
  it("reads calls, results, archived ones and summaries", () => {
    const [one, two] = parseMessages({
      messages: [
        {
          seq: 3,
          created_at: "2026-01-02T03:04:05Z",
          role: "assistant",
          content: "Listing.",
          tool_calls: [{ id: "c1", name: "bash", arguments: { command: "ls", deep: { a: [1] } } }],
          tool_results: [{ tool_call_id: "c1", content: "x", is_error: true }],
          archived_by: 2,
        },
        { seq: 4, summary: true, content: "[COMPACTED CONTEXT]" },
      ],
    });
    expect(one).toEqual({
      seq: 3,
      created_at: Date.parse("2026-01-02T03:04:05Z"),
      role: "assistant",
      content: t("Listing."),
      tool_calls: whole({
        id: "c1",
        name: "bash",
        arguments: whole({ name: "command", value: t("ls") }, { name: "deep", value: t('{\n  "a": [\n    1\n  ]\n}') }),
      }),
      tool_results: whole({ tool_call_id: "c1", content: t("x"), is_error: true }),
      archived_by: 2,
      summary: false,
    });
    expect(two).toMatchObject({ seq: 4, role: "user", summary: true, tool_calls: whole(), archived_by: 0 });
  });

  it("never throws and leaves out what is no message", () => {
    expect([null, [], {}, { messages: 3 }, { messages: [null, 1, {}, { seq: "1" }] }].map(parseMessages)).toEqual([
      [],
      [],
      [],
      [],
      [],
    ]);
  });

  it("holds neither long texts nor long lists as a whole", () => {
    const calls = Array.from({ length: MAX_ITEMS + 7 }, () => ({ name: "bash" }));
    const [m] = parseMessages({ messages: [{ seq: 1, content: "x".repeat(MAX_TEXT + 9), tool_calls: calls }] });
    expect([m?.content.text.length, m?.content.left, m?.tool_calls.items.length, m?.tool_calls.left]).toEqual([
      MAX_TEXT,
      9,
      MAX_ITEMS,
      7,
    ]);
  });
});

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
            evidence_summary: ["e", 3, ""],
          },
        ],
      },
    );
    expect(timeline.decisions.map((d) => d.seq)).toEqual([7, 8]);
    expect(timeline.decisions[0]).toMatchObject({
      route_score: "0.5",
      runner_up_mode: "act",
      runner_up_score: "0",
      signal_summary: whole("s"),
      artifact_paths: whole(),
    });
    expect(timeline.decisions[0]?.evidence_provenance.items.map((e) => e.command_id)).toEqual(["1", "2"]);
    expect(timeline.decisions[1]).toMatchObject({ route_score: "", kind: "", signal_summary: whole() });
    expect(timeline).toMatchObject({
      derived: true,
      trace: [{ stage: "verify", outcome: "accept", decision_summary: t("It works"), evidence_summary: whole("e") }],
    });
    expect(parseTimeline(null, 3)).toEqual({ decisions: [], trace: [], derived: false });
  });
});

describe("the other documents", () => {
  it("are read, whatever is missing", () => {
    expect(
      parseLedger({ assumptions: [{ text: "a", status: "open" }, { status: "open" }, 3] }).assumptions.items,
    ).toMatchObject([{ text: t("a"), status: "open", introduced_phase: "" }]);
    expect(parseLedger(null).decision_boundaries).toEqual(whole());
    expect(parseUsage({ input_tokens: 12, turns: "x" })).toMatchObject({ input_tokens: 12, turns: 0 });
    expect(parsePermissions({ mode: "prompt", active: true, rule_counts: { allow: 2 } })).toEqual({
      mode: "prompt",
      active: true,
      rule_counts: { allow: 2, deny: 0, ask: 0 },
    });
    expect(parsePermissions(null)).toMatchObject({ mode: "", active: false });
    expect(
      parseApprovals({ approvals: [{ id: "a", tool: "exec", arguments: { command: "true" }, status: "pending" }, {}] }),
    ).toMatchObject([{ id: "a", arguments: whole({ name: "command", value: t("true") }), expires_at: 0 }]);
  });

  it("have a call that somebody decides about as a whole", () => {
    const args = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}`, "x"]));
    const [a] = parseApprovals({
      approvals: [{ id: "a", status: "pending", arguments: { ...args, command: "y".repeat(256 * 1024) } }],
    });
    expect(a?.arguments.items.length).toBe(201);
    expect(a?.arguments.items.every((i) => i.value.left === 0)).toBe(true);
  });

  it("do not indent deep JSON, which would be many times as long", () => {
    const deep = `${"[".repeat(1000)}${"]".repeat(1000)}`;
    const [a] = parseApprovals({ approvals: [{ id: "a", status: "pending", arguments: { deep: JSON.parse(deep) } }] });
    expect(a?.arguments.items[0]?.value.text).toBe(deep);
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
    expect([decisions[0]?.route_score, decisions[0]?.runner_up_score]).toEqual(["0.20", "12345678901234567890"]);
  });
});
