import { useState } from "preact/hooks";
import { clean } from "../list/label";
import { Fact } from "../ui/fact";
import { activeId } from "../store";
import { terminalInView, type TerminalDoc, type Thread } from "./thread";
import { envText } from "./text";

/** Longest directory or value shown, in characters. */
const MAX_TEXT = 1000;
/** Variables shown; a program may export thousands. */
const MAX_VARIABLES = 100;
/** Terminals of the thread offered beside the one on display. */
const MAX_OTHERS = 20;

/** Characters of an id that tell the terminals of one thread apart. */
const SHORT_ID = 8;

/** callIt names a terminal; one that got no name has its id for one. */
const callIt = (t: TerminalDoc): string => `${clean(t.kind)} ${t.name === t.id ? t.id.slice(0, SHORT_ID) : clean(t.name)}`;

/** StatusTerminal is the state of the terminal on display that outlives its program; the thread's others can be chosen. */
export function StatusTerminal({ thread }: { thread: Thread }) {
  const [chosen, choose] = useState<string | null>(activeId.value);
  const shown = terminalInView(thread, chosen);
  if (!shown) return null;
  const others = thread.terminals.filter((t) => t !== shown);
  return (
    <section class="status-section" aria-labelledby="status-terminal">
      <header>
        <h2 id="status-terminal">Terminal</h2>
        <span class="version-badge">v{shown.version}</span>
        {shown.active && (
          <span class="status-hint" title="Requests that name no terminal mean this one.">
            active
          </span>
        )}
      </header>
      <dl class="status-grid">
        <Fact name="Id" code>
          {clean(shown.id)}
        </Fact>
        <Fact name="Kind">{clean(shown.kind)}</Fact>
        <Fact name="Directory" code>
          <span class="cwd">{clean(shown.cwd, MAX_TEXT)}</span>
        </Fact>
        <Fact name="Environment">{envText(shown.env.length, shown.unset.length)}</Fact>
      </dl>
      <Environment key={shown.id} terminal={shown} />
      {others.length > 0 && <Others terminals={others.slice(0, MAX_OTHERS)} choose={choose} />}
    </section>
  );
}

function Others({ terminals, choose }: { terminals: readonly TerminalDoc[]; choose(id: string): void }) {
  return (
    <>
      <p class="status-hint status-others-head" id="status-others">
        Also in this session
      </p>
      <ul class="status-others" aria-labelledby="status-others">
        {terminals.map((t) => (
          <li key={t.id}>
            <button type="button" aria-label={`Show ${callIt(t)}`} onClick={() => choose(t.id)}>
              <bdi class="status-other-name">{callIt(t)}</bdi>
              <bdi class="status-other-cwd">{clean(t.cwd)}</bdi>
              <span class="version-badge">v{t.version}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

/**
 * Environment is what was changed and removed against the start. Values are often secrets, so they come into the page's
 * document only when they are asked for, and go when another terminal is chosen.
 */
function Environment({ terminal: { env, unset } }: { terminal: TerminalDoc }) {
  const [open, setOpen] = useState(false);
  if (env.length + unset.length === 0) return null;
  const more = Math.max(0, env.length - MAX_VARIABLES);
  return (
    <div class="env-delta">
      {env.length > 0 && (
        <button type="button" class="status-action" aria-pressed={open} onClick={() => setOpen(!open)}>
          {open ? "Hide values" : "Show values"}
        </button>
      )}
      <ul>
        {env.slice(0, MAX_VARIABLES).map(([name, value]) => (
          <li key={name}>
            <bdi class="env-name">{clean(name)}</bdi>
            <bdi class="env-value">{open ? clean(value, MAX_TEXT) : <span aria-label="hidden">••••••</span>}</bdi>
          </li>
        ))}
        {unset.slice(0, MAX_VARIABLES).map((name) => (
          <li key={`-${name}`}>
            <del class="env-name">{clean(name)}</del>
            <span class="status-hint">removed</span>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="status-hint">and {more} more</p>}
    </div>
  );
}
