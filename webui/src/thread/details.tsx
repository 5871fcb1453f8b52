import { useEffect, useState } from "preact/hooks";
import { canChange, changeThread } from "../api/requests";
import { type Lease as LeaseDocument, type Session as SessionDocument, time } from "../api/wire";
import { useApp, useStore } from "../app";
import { Failure, useAction } from "../ui/action";
import { StatusBadge } from "../ui/badge";
import { Button } from "../ui/button";
import { Fact, Time } from "../ui/fact";
import { useNow } from "../ui/now";
import { Section } from "../ui/section";
import { clean } from "../ui/text";
import { TerminalDetails } from "./terminal";
import { countdown, endedText } from "./text";
import { isLive, type Thread } from "./thread";

/** The countdown is redrawn this often, in milliseconds. */
const TICK_MS = 500;
/** Longest error of a provider that is shown, in characters. */
const MAX_ERROR = 500;

/** ThreadDetails is everything about a thread: its session, its terminals and its lease. */
export function ThreadDetails({ thread }: { thread: Thread }) {
  const now = useNow(true, TICK_MS) + thread.clock;
  return (
    <>
      {thread.session && <Session session={thread.session} lease={thread.lease} now={now} />}
      <TerminalDetails thread={thread} />
      {thread.lease && <Lease lease={thread.lease} now={now} />}
    </>
  );
}

function Session({ session: s, lease, now }: { session: SessionDocument; lease: LeaseDocument | null; now: number }) {
  const live = isLive(s.status);
  const aside = (
    <>
      <StatusBadge status={s.status} />
      {live && lease && <PauseButton key={`${s.status} ${lease.observed_state}`} session={s} lease={lease} />}
    </>
  );
  const end = time(s.expires_at);
  const left = (
    <span class="left" title={new Date(end).toLocaleString()}>
      in {countdown(end - now)}
    </span>
  );
  return (
    <Section id="status-session" title="Session" aside={aside}>
      {!live && <p class="note">{endedText(s)}</p>}
      <dl class="status-grid">
        <Fact name="Id" code value={clean(s.session_id)} />
        <Fact name="Created" value={<Time at={s.created_at} now={now} />} />
        <Fact name="Last active" value={<Time at={s.last_active_at} now={now} />} />
        {live ? <Fact name="Expires" value={left} /> : <Fact name="Ended" value={<Time at={s.ended_at} now={now} />} />}
      </dl>
    </Section>
  );
}

/** PauseButton stops or continues the thread's processes, where the provider can. */
function PauseButton({ session, lease }: { session: SessionDocument; lease: LeaseDocument }) {
  const { activeInfo } = useStore();
  const { threadState } = useApp();
  const [can, setCan] = useState(false);
  const { busy, error, run } = useAction();
  const thread = activeInfo.value?.session;
  const what = session.status === "paused" || lease.observed_state === "paused" ? "resume" : "pause";
  useEffect(() => {
    void canChange(lease.provider_name, what).then(setCan);
  }, [lease.provider_name, what]);
  if (thread === undefined || !can) return null;
  const act = async (): Promise<void> => {
    await run(() => changeThread(thread, what));
    threadState.refresh();
  };
  return (
    <>
      <Button text={what === "pause" ? "Pause" : "Resume"} class="small" disabled={busy} onClick={() => void act()} />
      <Failure text={error} />
    </>
  );
}

function Lease({ lease: l, now }: { lease: LeaseDocument; now: number }) {
  return (
    <Section id="status-lease" title="Lease" aside={<StatusBadge status={l.observed_state} />}>
      <dl class="status-grid">
        <Fact name="Provider" value={<span class="provider-badge">{clean(l.provider_name)}</span>} />
        <Fact name="Id" code value={clean(l.lease_id)} />
        <Fact name="Instance" code value={clean(l.instance?.instance_id)} />
        <Fact name="Started" value={<Time at={l.instance?.started_at} now={now} />} />
        <Fact name="Wanted" value={clean(l.desired_state)} />
        <Fact name="Changed" value={<Time at={l.updated_at} now={now} />} />
      </dl>
      {l.last_error !== "" && <p class="form-error">{clean(l.last_error, MAX_ERROR)}</p>}
    </Section>
  );
}
