import type { Decision, Evidence } from "../api/wire";
import { joined, type Part } from "../ui/text";

const filled = (parts: readonly Part[]): string[] => parts.filter((p) => !!p) as string[];
const after = (word: string, s: Part): string => (s ? `${word} ${s}` : "");

/** facts are what a decision says in a word or two. Scores are as they were written. */
export function facts(d: Decision): string[] {
  const second = joined([d.runner_up_mode, d.runnerUp], " ");
  return filled([
    joined([after("Score", d.score), after("runner-up", second)], ", "),
    after("next", d.scheduled_next_mode),
    after("policy", joined([d.policy_stage, d.policy_outcome], " → ")),
    after("decided", d.decision_kind),
    after("clarify", joined([d.clarify_stage, d.clarify_pressure_kind], ", ")),
  ]);
}

/** sources say where a piece of evidence is from. The command is left out when the source names it already. */
export function sources(e: Evidence): string[] {
  const command = e.source === `cmd_${e.command_id}` ? "" : e.command_id;
  return filled([joined([e.category, e.subject], ": "), e.source, after("command", command)]);
}
