import { useRef, useState } from "preact/hooks";
import { type Decisions, decideApproval, Refusal, revealApproval } from "../api/requests";
import { type Approval, byAge, type Permissions } from "../api/wire";
import { useApp } from "../app";
import { Failure, useAction } from "../ui/action";
import { Button } from "../ui/button";
import { Time } from "../ui/fact";
import { Tag } from "../ui/fold";
import { Section } from "../ui/section";
import { clean, counted, exact, readable } from "../ui/text";
import { argumentsOf, MAX_ASKED } from "./messages";

/**
 * Approvals are the calls that wait for a person, the oldest first, and the decided ones. A call that was decided
 * meanwhile stays in place: nothing may move below a finger that is about to decide.
 */
export function Approvals({ thread, decisions }: { thread: string; decisions: Decisions }) {
  const { conversation } = useApp();
  const seen = useRef(new Set<string>());
  const pending = conversation.pending.value;
  for (const a of pending) seen.current.add(a.id);
  const known = new Map([...decisions.approvals, ...pending].map((a) => [a.id, a]));
  const here = [...known.values()].filter((a) => seen.current.has(a.id)).sort(byAge);
  const before = decisions.approvals.filter((a) => !seen.current.has(a.id));
  return (
    <>
      <Permitted permissions={decisions.permissions} />
      <Section id="approvals-pending" title="Calls that wait for you">
        {here.length === 0 && <p class="note">None.</p>}
        <ul class="plain">
          {here.map((a) => (
            <Asked key={a.id} thread={thread} approval={a} waits={pending.some((p) => p.id === a.id)} />
          ))}
        </ul>
      </Section>
      {before.length > 0 && (
        <Section id="approvals-decided" title="Before">
          <ul class="plain approvals-before">
            {before.map((a) => (
              <Decided key={a.id} approval={a} />
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Permitted({ permissions: { mode, active, rule_counts: n } }: { permissions: Permissions }) {
  const rules = [
    n.allow && counted(n.allow, "rule allows", "rules allow"),
    n.deny && counted(n.deny, "rule denies", "rules deny"),
    n.ask && counted(n.ask, "rule asks", "rules ask"),
  ];
  const said = rules.filter((words) => words !== 0).join(", ") || "No rules";
  return (
    <p class="note permitted">
      Permission mode <b>{clean(mode)}</b>. {active ? `${said}.` : "Permissions are off: every call is allowed."}
    </p>
  );
}

const BECAME: Record<string, string> = {
  pending: "waits",
  approved: "approved, not used yet",
  used: "approved and done",
  denied: "denied",
  expired: "expired",
};

const Outcome = ({ status }: { status: string }) => <Tag kind={status} text={clean(BECAME[status] ?? status)} />;

function Asked({ thread, approval, waits }: { thread: string; approval: Approval; waits: boolean }) {
  const { conversation } = useApp();
  const item = useRef<HTMLLIElement>(null);
  const [revealed, setRevealed] = useState<Approval | null>(null);
  const a = revealed ?? approval;
  const hidden = Object.entries(a.hidden ?? {}).map(([name, bytes]) => `${name}=***(${bytes})`);
  const unseen = hidden.length > 0;
  const asked =
    a.status === "pending" ? argumentsOf(a.arguments, Number.POSITIVE_INFINITY, MAX_ASKED) : argumentsOf(a.arguments);
  const whole = asked.items.every(({ value }) => value.left === 0);
  const { busy, error, run } = useAction();
  const decide = async (decision: "approve" | "deny"): Promise<void> => {
    await run(async () => {
      await decideApproval(thread, a.id, decision);
      item.current?.focus(); // the button goes
    });
    conversation.decided();
  };
  const show = (): Promise<void> =>
    run(async () => {
      const shown = await revealApproval(thread, approval.id);
      if (shown === null || shown instanceof Refusal) throw new Error("The values cannot be shown.");
      setRevealed(shown);
    });
  return (
    <li ref={item} class={waits ? "box asked waits" : "box asked"} tabIndex={-1}>
      <header class="line">
        <bdi class="tool-name code">{exact(a.tool)}</bdi>
        <span class="hint when">
          <Time at={a.created_at} />
        </span>
      </header>
      <dl class="arguments">
        {asked.items.map(({ name, value }) => (
          <div key={name}>
            <dt>{exact(name)}</dt>
            <dd class="fold-text code">{exact(value.text)}</dd>
          </div>
        ))}
      </dl>
      {unseen && <p class="note hidden-values">Hidden: {exact(hidden.join(", "))}</p>}
      {a.reason !== "" && <p class="note">{readable(a.reason)}</p>}
      <div class="asked-actions">
        {waits && <Button text="Deny" disabled={busy} onClick={() => void decide("deny")} />}
        {waits && unseen && <Button text="Show" class="show" disabled={busy} onClick={() => void show()} />}
        {waits && whole && !unseen && (
          <Button text="Approve once" class="primary" disabled={busy} onClick={() => void decide("approve")} />
        )}
        {waits && !whole && <p class="hint">Too long to be shown as a whole, so it cannot be approved here.</p>}
        {!waits && (approval.status === "pending" ? <Tag text="decided" /> : <Outcome status={approval.status} />)}
      </div>
      <Failure text={error} />
    </li>
  );
}

function Decided({ approval: a }: { approval: Approval }) {
  const { items } = argumentsOf(a.arguments);
  const first = items.find((i) => i.name === "command" || i.name === "path") ?? items[0];
  return (
    <li class="line">
      <Outcome status={a.status} /> <bdi class="tool-name code">{clean(a.tool)}</bdi>{" "}
      <bdi class="source code">{clean(first?.value.text ?? "")}</bdi>
      <span class="hint when">
        <Time at={a.used_at || a.decided_at || a.created_at} />
      </span>
    </li>
  );
}
