import type { ComponentChildren } from "preact";
import { useApp, useStore } from "../app";
import { Button } from "../ui/button";
import { useNow } from "../ui/now";

/** The countdown is redrawn this often, in milliseconds. */
const TICK_MS = 250;

function Countdown({ attempt, retryAt }: { attempt: number; retryAt: number }) {
  const now = useNow(retryAt !== 0, TICK_MS);
  const seconds = Math.max(0, Math.ceil((retryAt - now) / 1000));
  const next = retryAt === 0 || seconds === 0 ? "trying now" : `next try in ${seconds} s`;
  // Not announced: a screen reader would read every second of it.
  return (
    <p class="hint" aria-hidden="true">
      Attempt {Math.max(1, attempt)}, {next}
    </p>
  );
}

function Panel({ children }: { children: ComponentChildren }) {
  const { drawn } = useStore();
  return (
    <div class={drawn.value ? "overlay dim" : "overlay"}>
      <div class="card overlay-panel" role="status" aria-live="polite">
        {children}
      </div>
    </div>
  );
}

/** Overlay covers the terminal while the connection is away; the last screen stays visible beneath it. */
export function Overlay() {
  const { guest, model } = useStore();
  const { connection } = useApp();
  const { state, attempt, retryAt } = connection.status.value;
  const retry = (): void => connection.retryNow();
  if (state === "unauthorized" && guest) {
    return (
      <Panel>
        <h2>This link has ended</h2>
        <p>It has expired or was revoked, or you were removed. Ask the person who shared it for another one.</p>
        <Button text="Try again" class="primary" onClick={retry} />
      </Panel>
    );
  }
  if (state === "unauthorized") {
    return (
      <Panel>
        <h2>{model.value.listed ? "Logged out" : "Not logged in"}</h2>
        <p>
          Run <code>evertty url</code> on the server and open the printed link.
        </p>
        <Button text="Try again" class="primary" onClick={retry} />
      </Panel>
    );
  }
  if (state !== "reconnecting") return null;
  return (
    <Panel>
      <div class="spinner" aria-hidden="true" />
      <h2>Reconnecting…</h2>
      <Countdown attempt={attempt} retryAt={retryAt} />
      <Button text="Retry now" class="primary" onClick={retry} />
    </Panel>
  );
}
