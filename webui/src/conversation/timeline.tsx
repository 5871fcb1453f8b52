import type { ComponentChildren } from "preact";
import { type Decision, type Evidence, type Timeline as TimelineDocument, type TraceEntry, time } from "../api/wire";
import { Time } from "../ui/fact";
import { Fold, More, Tag, Words } from "../ui/fold";
import { Section } from "../ui/section";
import { clean, counted, firstItems, readable } from "../ui/text";
import { facts, sources } from "./text";

/** Timeline shows how a turn was completed and, the newest first, the decisions with their reasons. */
export function Timeline({ timeline: { decisions, trace, derived } }: { timeline: TimelineDocument }) {
  if (decisions.length + trace.length === 0) return <p class="none">Nothing was decided yet.</p>;
  const before = (decisions[0]?.seq ?? 1) - 1;
  return (
    <>
      {trace.length > 0 && (
        <Section id="timeline-trace" title="Completion" aside={derived && <span class="hint">from the decisions</span>}>
          <ol class="plain trace">
            {firstItems(trace).items.map((s, i) => (
              <StepEntry key={i} step={s} />
            ))}
          </ol>
        </Section>
      )}
      {decisions.length > 0 && (
        <Section id="timeline-decisions" title="Decisions" aside={<span class="hint">newest first</span>}>
          <ol class="plain">
            {decisions.toReversed().map((d) => (
              <DecisionEntry key={d.seq} decision={d} />
            ))}
          </ol>
          {before > 0 && (
            <p class="hint">{counted(before, "older decision is", "older decisions are")} kept and not shown here.</p>
          )}
        </Section>
      )}
    </>
  );
}

interface EntryProps {
  kind: string | undefined;
  tag: string | undefined;
  code: string | undefined;
  when?: ComponentChildren;
  children: ComponentChildren;
}

function Entry({ kind, tag, code, when, children }: EntryProps) {
  return (
    <li class="entry">
      <header class="line">
        <bdi class="entry-kind">{clean(kind)}</bdi>
        {tag && <Tag text={clean(tag)} />}
        <bdi class="source code">{clean(code)}</bdi>
        {when}
      </header>
      {children}
    </li>
  );
}

function StepEntry({ step: s }: { step: TraceEntry }) {
  return (
    <Entry kind={s.stage} tag={s.outcome} code={s.decision_code}>
      <Fold text={s.decision_summary} />
      <Words name="Evidence" list={s.evidence_summary} />
      <Sources list={s.evidence_provenance} />
    </Entry>
  );
}

/** The lists of a decision beside its evidence, by the words that head them. */
const LISTS = [
  ["Open questions", "unresolved_questions"],
  ["Missing checks", "missing_readiness_gates"],
  ["Signals", "signal_summary"],
  ["Artifacts", "artifact_paths"],
  ["Prompt sections", "prompt_sections"],
] as const;

function DecisionEntry({ decision: d }: { decision: Decision }) {
  const when = time(d.timestamp) > 0 && (
    <span class="hint when">
      <Time at={d.timestamp} />
    </span>
  );
  return (
    <Entry kind={d.kind} tag={d.mode} code={d.reason_code} when={when}>
      <Fold text={d.summary} />
      <ul class="plain facts">
        {facts(d).map((f) => (
          <li key={f}>
            <bdi>{clean(f)}</bdi>
          </li>
        ))}
      </ul>
      <Words name="Evidence" list={d.evidence_summary} />
      <Sources list={d.evidence_provenance} />
      {LISTS.map(([name, key]) => (
        <Words key={key} name={name} list={d[key]} />
      ))}
    </Entry>
  );
}

/** Statuses of evidence with a colour of their own. */
const STATUSES = new Set(["supports", "missing", "contradicts"]);

function Sources({ list = [] }: { list: readonly Evidence[] | undefined }) {
  const { items, left } = firstItems(list);
  if (items.length === 0) return null;
  return (
    <div class="words">
      <ul class="sources">
        {items.map((e, i) => (
          <li key={i}>
            <Tag text={clean(e.status)} kind={STATUSES.has(e.status ?? "") ? e.status : ""} />{" "}
            <bdi>{readable(e.summary)}</bdi>{" "}
            {sources(e).map((s, k) => (
              <bdi key={k} class="source code">
                {clean(s)}
              </bdi>
            ))}
            {e.detail && <p class="hint">{readable(e.detail)}</p>}
          </li>
        ))}
      </ul>
      <More left={left} />
    </div>
  );
}
