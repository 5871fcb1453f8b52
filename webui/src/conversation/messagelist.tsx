import { useLayoutEffect, useRef } from "preact/hooks";
import { Fold, More } from "../ui/fold";
import { clean } from "../list/label";
import { hiddenBefore, type Held } from "./messages";
import { record } from "../page";
import type { Argument, List, Message, ToolCall, ToolResult } from "./documents";
import { Time } from "../ui/fact";
import { TabPanel } from "../ui/tabs";

/** Who is nearer to the end than this, in CSS pixels, wants to see what is new. */
const NEAR_END_PX = 40;

/** RecordMessages are the messages in their order. Who is at their end stays there, who reads stays where they are. */
export function RecordMessages({ held }: { held: Held }) {
  const box = useRef<HTMLDivElement>(null);
  const stay = useStay(box, held);
  return (
    <TabPanel name="record" chosen="messages" class="status-scroll messages" box={box} onScroll={stay}>
      <Before held={held} />
      {held.list.length === 0 && <p class="record-empty">There are no messages.</p>}
      <ol class="message-list">
        {held.list.map((m) => (
          <MessageItem key={m.summary ? `summary ${m.seq}` : m.seq} message={m} />
        ))}
      </ol>
      {!held.tail && (
        <button type="button" class="status-action" onClick={() => record.toNewest()}>
          Back to the newest messages
        </button>
      )}
    </TabPanel>
  );
}

/**
 * useStay holds the view at the end, or at the message that is at its top, when messages come and go. Who asks for older
 * ones finds them above what they saw. What it returns is for the scroll event.
 */
function useStay(box: { current: HTMLDivElement | null }, held: Held): () => void {
  const place = useRef<{ atEnd: boolean; top: HTMLElement | null; offset: number }>({ atEnd: true, top: null, offset: 0 });
  const last = useRef<Message | undefined>(undefined);
  const note = (): void => {
    const b = box.current;
    if (b === null) return;
    const top = [...b.querySelectorAll<HTMLElement>(".message")].find((i) => i.offsetTop + i.offsetHeight > b.scrollTop) ?? null;
    place.current = { atEnd: b.scrollHeight - b.scrollTop - b.clientHeight < NEAR_END_PX, top, offset: (top?.offsetTop ?? 0) - b.scrollTop };
  };
  useLayoutEffect(() => {
    const b = box.current;
    const { atEnd, top, offset } = place.current;
    const grewBefore = last.current !== undefined && last.current === held.list.at(-1);
    last.current = held.list.at(-1);
    if (b === null) return;
    if (atEnd && !grewBefore) b.scrollTop = b.scrollHeight;
    else if (top?.isConnected) b.scrollTop = top.offsetTop - offset;
    note();
  }, [held]);
  return note;
}

function Before({ held }: { held: Held }) {
  const { count, archived } = hiddenBefore(held);
  if (count === 0) return null;
  const what = archived ? `Show archived messages (${count.toLocaleString()})` : "Show older messages";
  return (
    <button type="button" class="status-action older" disabled={record.loadingOlder.value} onClick={() => record.older()}>
      {record.loadingOlder.value ? "Reading…" : what}
    </button>
  );
}

/** Roles with a colour of their own. */
const ROLES = new Set(["system", "user", "assistant", "tool"]);

function MessageItem({ message: m }: { message: Message }) {
  const role = clean(m.role);
  const kind = ["message", ROLES.has(role) ? `of-${role}` : "", m.summary ? "summary" : "", m.archivedBy > 0 ? "archived" : ""].filter((s) => s !== "").join(" ");
  return (
    <li class={kind}>
      <header>
        <span class="role">{m.summary ? "summary" : role}</span>
        {m.summary && <span class="status-hint">{`stands for ${m.seq === 1 ? "message 1" : `messages 1–${m.seq}`}`}</span>}
        {m.archivedBy > 0 && <span class="tag">archived</span>}
        <span class="status-hint when">
          {m.summary ? "" : `${m.seq} · `}
          <Time at={m.at} now={Date.now()} />
        </span>
      </header>
      {m.content.text !== "" && <Fold text={m.content} />}
      {m.calls.items.map((c, i) => (
        <Call key={`call ${i}`} call={c} />
      ))}
      <More list={m.calls} />
      {m.results.items.map((r, i) => (
        <Result key={`result ${i}`} result={r} />
      ))}
      <More list={m.results} />
    </li>
  );
}

function Call({ call }: { call: ToolCall }) {
  return (
    <section class="tool" aria-label={`Call of ${clean(call.name)}`}>
      <header>
        <span class="status-hint">calls</span>
        <bdi class="tool-name">{clean(call.name)}</bdi>
        <bdi class="status-hint tool-id">{clean(call.id)}</bdi>
      </header>
      <Arguments args={call.args} />
    </section>
  );
}

function Arguments({ args }: { args: List<Argument> }) {
  if (args.items.length === 0) return null;
  return (
    <dl class="arguments">
      {args.items.map((a) => (
        <div key={a.name}>
          <dt>
            <bdi>{clean(a.name)}</bdi>
          </dt>
          <dd>
            <Fold text={a.value} code />
          </dd>
        </div>
      ))}
      <More list={args} />
    </dl>
  );
}

function Result({ result }: { result: ToolResult }) {
  return (
    <section class={result.error ? "tool failed" : "tool"} aria-label={result.error ? "Failed result" : "Result"}>
      <header>
        <span class={result.error ? "tag bad" : "status-hint"}>{result.error ? "error" : "result"}</span>
        <bdi class="status-hint tool-id">{clean(result.call)}</bdi>
      </header>
      {result.content.text === "" ? <p class="status-hint">empty</p> : <Fold text={result.content} code />}
    </section>
  );
}
