import { useRef, useState } from "preact/hooks";
import { clean } from "../list/label";
import { record } from "../page";
import type { Approval, Permissions } from "./documents";
import type { Decisions } from "./conversation";
import { decideApproval } from "../api/conversationrequests";
import { becameText, counted, exact, readable } from "./text";
import { Time } from "../ui/fact";

/**
 * RecordApprovals are the calls that wait for a person, the oldest first, and what became of others. A call that was
 * decided while it is looked at stays where it is: nothing may move below a finger that is about to decide.
 */
export function RecordApprovals({ thread, decisions }: { thread: string; decisions: Decisions }) {
  const seen = useRef(new Set<string>());
  const pending = record.pending.value;
  for (const a of pending) seen.current.add(a.id);
  const known = new Map([...decisions.approvals, ...pending].map((a) => [a.id, a]));
  const here = [...known.values()].filter((a) => seen.current.has(a.id)).sort((a, b) => a.createdAt - b.createdAt);
  const before = decisions.approvals.filter((a) => !seen.current.has(a.id));
  return (
    <>
      <Permitted permissions={decisions.permissions} />
      <section class="status-section" aria-labelledby="record-pending">
        <header>
          <h2 id="record-pending">Calls that wait for you</h2>
        </header>
        {here.length === 0 ? (
          <p class="status-note">None.</p>
        ) : (
          <ul class="decisions">
            {here.map((a) => (
              <Asked key={a.id} thread={thread} approval={a} waits={pending.some((p) => p.id === a.id)} />
            ))}
          </ul>
        )}
      </section>
      {before.length > 0 && (
        <section class="status-section" aria-labelledby="record-decided">
          <header>
            <h2 id="record-decided">Before</h2>
          </header>
          <ul class="approvals-before">
            {before.map((a) => (
              <Decided key={a.id} approval={a} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Permitted({ permissions: p }: { permissions: Permissions }) {
  const rules = [
    [p.allow, counted(p.allow, "rule allows", "rules allow")],
    [p.deny, counted(p.deny, "rule denies", "rules deny")],
    [p.ask, counted(p.ask, "rule asks", "rules ask")],
  ] as const;
  const said = rules.flatMap(([n, words]) => (n > 0 ? [words] : [])).join(", ") || "No rules";
  return (
    <p class="status-note permitted">
      Permission mode <b>{clean(p.mode)}</b>. {p.active ? `${said}.` : "Nothing is decided: every call is let through."}
    </p>
  );
}

function Asked({ thread, approval: a, waits }: { thread: string; approval: Approval; waits: boolean }) {
  const item = useRef<HTMLLIElement>(null);
  const whole = a.args.items.every(({ value }) => value.left === 0);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const decide = async (decision: "approve" | "deny"): Promise<void> => {
    setBusy(true);
    setError("");
    try {
      await decideApproval(thread, a.id, decision);
      item.current?.focus(); // the button goes
    } catch (e) {
      setError(e instanceof Error ? e.message : "The call was not decided.");
    }
    setBusy(false);
    record.decided();
  };
  return (
    <li ref={item} class={waits ? "asked waits" : "asked"} tabIndex={-1}>
      <header>
        <bdi class="tool-name">{exact(a.tool)}</bdi>
        <span class="status-hint when">
          <Time at={a.createdAt} now={Date.now()} />
        </span>
      </header>
      <dl class="arguments">
        {a.args.items.map(({ name, value }) => (
          <div key={name}>
            <dt>{exact(name)}</dt>
            <dd class="fold-text code">{exact(value.text)}</dd>
          </div>
        ))}
      </dl>
      {a.reason !== "" && <p class="status-note">{readable(a.reason)}</p>}
      <div class="asked-actions">
        {waits && (
          <button type="button" disabled={busy} onClick={() => void decide("deny")}>
            Deny
          </button>
        )}
        {waits && whole && (
          <button type="button" class="primary" disabled={busy} onClick={() => void decide("approve")}>
            Approve once
          </button>
        )}
        {waits && !whole && <p class="status-hint">Too long to be shown as a whole, so it cannot be approved here.</p>}
        {!waits && <span class={`tag ${a.status}`}>{a.status === "pending" ? "decided" : clean(becameText(a.status))}</span>}
      </div>
      {error !== "" && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
    </li>
  );
}

function Decided({ approval: a }: { approval: Approval }) {
  const first = a.args.items.find((i) => i.name === "command" || i.name === "path") ?? a.args.items[0];
  return (
    <li>
      <span class={`tag ${a.status}`}>{clean(becameText(a.status))}</span> <bdi class="tool-name">{clean(a.tool)}</bdi> <bdi class="source">{clean(first?.value.text ?? "")}</bdi>
      <span class="status-hint when">
        <Time at={a.usedAt || a.decidedAt || a.createdAt} now={Date.now()} />
      </span>
    </li>
  );
}
