import { Fold, More, Words } from "../ui/fold";
import { clean } from "../list/label";
import type { Decision, Evidence, List, Step, Timeline } from "./documents";
import { counted, readable, scores } from "./text";
import { Time } from "../ui/fact";

/** RecordTimeline is how a turn was completed and, the newest first, what was decided and why. */
export function RecordTimeline({ timeline }: { timeline: Timeline }) {
  const { decisions, trace, derived } = timeline;
  if (decisions.length + trace.length === 0) return <p class="record-empty">Nothing was decided yet.</p>;
  const before = (decisions[0]?.seq ?? 1) - 1;
  return (
    <>
      {trace.length > 0 && (
        <section class="status-section" aria-labelledby="record-trace">
          <header>
            <h2 id="record-trace">Completion</h2>
            {derived && <span class="status-hint">from the decisions</span>}
          </header>
          <ol class="decisions trace">
            {trace.map((s, i) => (
              <StepItem key={i} step={s} />
            ))}
          </ol>
        </section>
      )}
      {decisions.length > 0 && (
        <section class="status-section" aria-labelledby="record-decisions">
          <header>
            <h2 id="record-decisions">Decisions</h2>
            <span class="status-hint">newest first</span>
          </header>
          <ol class="decisions">
            {decisions.toReversed().map((d) => (
              <DecisionItem key={d.seq} decision={d} />
            ))}
          </ol>
          {before > 0 && <p class="status-hint">{counted(before, "older decision is", "older decisions are")} kept and not shown here.</p>}
        </section>
      )}
    </>
  );
}

function StepItem({ step: s }: { step: Step }) {
  return (
    <li class="decision">
      <header>
        <bdi class="decision-kind">{clean(s.stage)}</bdi>
        <span class="tag">
          <bdi>{clean(s.outcome)}</bdi>
        </span>
        <bdi class="decision-code">{clean(s.code)}</bdi>
      </header>
      {s.summary.text !== "" && <Fold text={s.summary} />}
      <Words name="Evidence" list={s.evidence} />
      <Sources list={s.sources} />
    </li>
  );
}

const joined = (parts: readonly string[], by: string): string => parts.filter((p) => p !== "").join(by);

/** facts are what a decision says in a word or two. */
function facts(d: Decision): string[] {
  return [
    scores(d),
    d.next === "" ? "" : `next ${d.next}`,
    d.stage + d.outcome === "" ? "" : `policy ${joined([d.stage, d.outcome], " → ")}`,
    d.decided === "" ? "" : `decided ${d.decided}`,
    d.clarify === "" ? "" : `clarify ${d.clarify}`,
  ].filter((f) => f !== "");
}

function DecisionItem({ decision: d }: { decision: Decision }) {
  return (
    <li class="decision">
      <header>
        <bdi class="decision-kind">{clean(d.kind)}</bdi>
        {d.mode !== "" && (
          <span class="tag">
            <bdi>{clean(d.mode)}</bdi>
          </span>
        )}
        <bdi class="decision-code">{clean(d.code)}</bdi>
        {d.at > 0 && (
          <span class="status-hint when">
            <Time at={d.at} now={Date.now()} />
          </span>
        )}
      </header>
      {d.summary.text !== "" && <Fold text={d.summary} />}
      {facts(d).length > 0 && (
        <ul class="facts">
          {facts(d).map((f, i) => (
            <li key={i}>
              <bdi>{clean(f)}</bdi>
            </li>
          ))}
        </ul>
      )}
      <Words name="Evidence" list={d.evidence} />
      <Sources list={d.sources} />
      {d.lists.map(([name, list]) => (
        <Words key={name} name={name} list={list} />
      ))}
    </li>
  );
}

/** What a piece of evidence does, where a colour says it too. */
const STATUSES = new Set(["supports", "missing", "contradicts"]);

function Sources({ list }: { list: List<Evidence> }) {
  if (list.items.length === 0) return null;
  return (
    <div class="words">
      <ul class="sources">
        {list.items.map((e, i) => (
          <li key={i}>
            <span class={STATUSES.has(e.status) ? `tag ${e.status}` : "tag"}>
              <bdi>{clean(e.status)}</bdi>
            </span>{" "}
            <bdi>{readable(e.summary)}</bdi>{" "}
            {[joined([e.category, e.subject], ": "), e.source, e.command === "" ? "" : `command ${e.command}`]
              .filter((s) => s !== "")
              .map((s, k) => (
                <bdi key={k} class="source">
                  {clean(s)}
                </bdi>
              ))}
            {e.detail !== "" && <p class="status-hint">{readable(e.detail)}</p>}
          </li>
        ))}
      </ul>
      <More list={list} />
    </div>
  );
}
