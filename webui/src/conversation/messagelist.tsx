import { useLayoutEffect, useRef } from "preact/hooks";
import { useApp } from "../app";
import { Button } from "../ui/button";
import { Time } from "../ui/fact";
import { Fold, More, Tag } from "../ui/fold";
import { TabPanel } from "../ui/tabs";
import { clean, joined, type List } from "../ui/text";
import { type Argument, type Held, hiddenBefore, type Message, type ToolCall, type ToolResult } from "./messages";

/** A view nearer to the end than this, in CSS pixels, follows new messages. */
const NEAR_END_PX = 40;

/** MessageList shows the messages in order. A view at their end follows them, any other stays in place. */
export function MessageList({ held }: { held: Held }) {
  const { conversation } = useApp();
  const box = useRef<HTMLDivElement>(null);
  const stay = useStay(box, held);
  return (
    <TabPanel name="conversation" chosen="messages" class="panel-scroll messages" box={box} onScroll={stay}>
      <Before held={held} />
      {held.list.length === 0 && <p class="none">There are no messages.</p>}
      <ol class="plain">
        {held.list.map((m) => (
          <MessageItem key={m.summary ? `summary ${m.seq}` : m.seq} message={m} />
        ))}
      </ol>
      {!held.tail && (
        <Button text="Back to the newest messages" class="small" onClick={() => conversation.toNewest()} />
      )}
    </TabPanel>
  );
}

/**
 * useStay holds the view at the end, or at the message that is at its top, when messages come and go. Who asks for
 * older ones finds them above what they saw. What it returns is for the scroll event.
 */
function useStay(box: { current: HTMLDivElement | null }, held: Held): () => void {
  const place = useRef({ atEnd: true, top: null as HTMLElement | null, offset: 0 });
  const last = useRef<Message | undefined>(undefined);
  const note = (): void => {
    const b = box.current;
    if (b === null) return;
    const top =
      [...b.querySelectorAll<HTMLElement>(".message")].find((i) => i.offsetTop + i.offsetHeight > b.scrollTop) ?? null;
    place.current = {
      atEnd: b.scrollHeight - b.scrollTop - b.clientHeight < NEAR_END_PX,
      top,
      offset: (top?.offsetTop ?? 0) - b.scrollTop,
    };
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
  const { conversation } = useApp();
  const { count, archived } = hiddenBefore(held);
  if (count === 0) return null;
  const what = archived ? `Show archived messages (${count.toLocaleString()})` : "Show older messages";
  const loading = conversation.loadingOlder.value;
  const text = loading ? "Reading…" : what;
  return <Button text={text} class="small older" disabled={loading} onClick={() => conversation.older()} />;
}

/** Roles with a colour of their own. */
const ROLES = new Set(["system", "user", "assistant", "tool"]);

function MessageItem({ message: m }: { message: Message }) {
  const role = clean(m.role);
  const kinds = [ROLES.has(role) && `of-${role}`, m.summary && "summary", m.archived_by && "archived"];
  return (
    <li class={joined(["message", ...kinds], " ")}>
      <header class="line">
        <span class="role">{m.summary ? "summary" : role}</span>
        {m.summary && <span class="hint">{`stands for ${m.seq === 1 ? "message 1" : `messages 1–${m.seq}`}`}</span>}
        {!!m.archived_by && <Tag text="archived" />}
        <span class="hint when">
          {m.summary ? "" : `${m.seq} · `}
          <Time at={m.created_at} />
        </span>
      </header>
      <Fold text={m.content} />
      {m.tool_calls.items.map((c, i) => (
        <Call key={`call ${i}`} call={c} />
      ))}
      <More left={m.tool_calls.left} />
      {m.tool_results.items.map((r, i) => (
        <Result key={`result ${i}`} result={r} />
      ))}
      <More left={m.tool_results.left} />
    </li>
  );
}

function Call({ call }: { call: ToolCall }) {
  return (
    <section class="box tool" aria-label={`Call of ${clean(call.name)}`}>
      <header class="line">
        <span class="hint">calls</span>
        <bdi class="tool-name code">{clean(call.name)}</bdi>
        <bdi class="hint code">{clean(call.id)}</bdi>
      </header>
      <Arguments args={call.arguments} />
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
      <More left={args.left} />
    </dl>
  );
}

function Result({ result }: { result: ToolResult }) {
  return (
    <section
      class={result.is_error ? "box tool failed" : "box tool"}
      aria-label={result.is_error ? "Failed result" : "Result"}
    >
      <header class="line">
        {result.is_error ? <Tag kind="bad" text="error" /> : <span class="hint">result</span>}
        <bdi class="hint code">{clean(result.tool_call_id)}</bdi>
      </header>
      {result.content.text === "" ? <p class="hint">empty</p> : <Fold text={result.content} code />}
    </section>
  );
}
