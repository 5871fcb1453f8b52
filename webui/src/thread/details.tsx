import { useEffect, useState } from "preact/hooks";
import { clean } from "../list/label";
import { useNow } from "../ui/now";
import { feed } from "../page";
import { changeThread, providerAbilities, type Abilities } from "../api/requests";
import { StatusBadge } from "../ui/badge";
import { StatusTerminal } from "./terminal";
import { Fact, Time } from "../ui/fact";
import { activeInfo } from "../store";
import { isLive, type LeaseDoc, type SessionDoc, type Thread } from "./thread";
import { countdown, endedText } from "./text";

/** The countdown is redrawn this often, in milliseconds. */
const TICK_MS = 500;

/** StatusDetails is everything about a thread: its session, its terminals and its lease. */
export function StatusDetails({ thread }: { thread: Thread }) {
  const now = useNow(true, TICK_MS) + thread.clock;
  return (
    <>
      {thread.session && <Session session={thread.session} lease={thread.lease} now={now} />}
      <StatusTerminal thread={thread} />
      {thread.lease && <Lease lease={thread.lease} now={now} />}
    </>
  );
}

function Session({ session, lease, now }: { session: SessionDoc; lease: LeaseDoc | null; now: number }) {
  const live = isLive(session.status);
  return (
    <section class="status-section" aria-labelledby="status-session">
      <header>
        <h2 id="status-session">Session</h2>
        <StatusBadge status={session.status} />
        {live && lease && <PauseButton key={`${session.status} ${lease.observed}`} session={session} lease={lease} />}
      </header>
      {!live && <p class="status-note">{endedText(session)}</p>}
      <dl class="status-grid">
        <Fact name="Id" code>
          {clean(session.id)}
        </Fact>
        <Fact name="Created">
          <Time at={session.createdAt} now={now} />
        </Fact>
        <Fact name="Last active">
          <Time at={session.lastActiveAt} now={now} />
        </Fact>
        {live ? (
          <Fact name="Expires">
            <span class="left" title={new Date(session.expiresAt).toLocaleString()}>
              in {countdown(session.expiresAt - now)}
            </span>
          </Fact>
        ) : (
          <Fact name="Ended">
            <Time at={session.endedAt} now={now} />
          </Fact>
        )}
      </dl>
    </section>
  );
}

/** PauseButton stops or continues the thread's processes, where the provider can. */
function PauseButton({ session, lease }: { session: SessionDoc; lease: LeaseDoc }) {
  const [can, setCan] = useState<Abilities | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const thread = activeInfo.value?.session;
  useEffect(() => {
    void providerAbilities(lease.provider).then(setCan);
  }, [lease.provider]);
  const what = session.status === "paused" || lease.observed === "paused" ? "resume" : "pause";
  if (thread === undefined || !can?.[what]) return null;
  const act = async (): Promise<void> => {
    setBusy(true);
    setError("");
    await changeThread(thread, what).catch((e: unknown) => setError(e instanceof Error ? e.message : `The session did not ${what}.`));
    setBusy(false);
    feed.refresh();
  };
  return (
    <>
      <button type="button" class="status-action" disabled={busy} onClick={() => void act()}>
        {what === "pause" ? "Pause" : "Resume"}
      </button>
      {error !== "" && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
    </>
  );
}

function Lease({ lease, now }: { lease: LeaseDoc; now: number }) {
  return (
    <section class="status-section" aria-labelledby="status-lease">
      <header>
        <h2 id="status-lease">Lease</h2>
        <StatusBadge status={lease.observed} />
      </header>
      <dl class="status-grid">
        <Fact name="Provider">
          <span class="provider-badge">{clean(lease.provider)}</span>
        </Fact>
        <Fact name="Id" code>
          {clean(lease.id)}
        </Fact>
        <Fact name="Instance" code>
          {clean(lease.instance)}
        </Fact>
        <Fact name="Started">
          <Time at={lease.startedAt} now={now} />
        </Fact>
        <Fact name="Wanted">{clean(lease.desired)}</Fact>
        <Fact name="Changed">
          <Time at={lease.updatedAt} now={now} />
        </Fact>
      </dl>
      {lease.lastError !== "" && <p class="form-error">{clean(lease.lastError, 500)}</p>}
    </section>
  );
}
