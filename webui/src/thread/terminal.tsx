import { useState } from "preact/hooks";
import type { ThreadTerminal } from "../api/wire";
import { useStore } from "../app";
import { Button } from "../ui/button";
import { Fact } from "../ui/fact";
import { More } from "../ui/fold";
import { Section } from "../ui/section";
import { clean } from "../ui/text";
import { envText } from "./text";
import { type Thread, terminalInView } from "./thread";

/** Longest directory or value shown, in characters. */
const MAX_TEXT = 1000;
/** Variables shown; a program may export thousands. */
const MAX_VARIABLES = 100;
/** Terminals of the thread offered beside the one on display. */
const MAX_OTHERS = 20;
/** Characters of an id that tell the terminals of one thread apart. */
const SHORT_ID = 8;

/** callIt names a terminal; one that got no name has its id for one. */
const callIt = ({ terminal_id, kind, name }: ThreadTerminal): string =>
  `${clean(kind)} ${name === terminal_id ? terminal_id.slice(0, SHORT_ID) : clean(name)}`;

/** TerminalDetails is the state of the terminal on display that outlives its program; others can be chosen. */
export function TerminalDetails({ thread }: { thread: Thread }) {
  const { activeId } = useStore();
  const [chosen, choose] = useState<string | null>(activeId.value);
  const shown = terminalInView(thread, chosen);
  if (!shown) return null;
  const others = thread.terminals.filter((t) => t !== shown);
  const aside = (
    <>
      <span class="version-badge">v{shown.version}</span>
      {shown.active && (
        <span class="hint" title="Requests that name no terminal mean this one.">
          active
        </span>
      )}
    </>
  );
  return (
    <Section id="status-terminal" title="Terminal" aside={aside}>
      <dl class="status-grid">
        <Fact name="Id" code value={clean(shown.terminal_id)} />
        <Fact name="Kind" value={clean(shown.kind)} />
        <Fact name="Directory" code value={<span class="cwd">{clean(shown.cwd, MAX_TEXT)}</span>} />
        <Fact name="Environment" value={envText(Object.keys(shown.env_delta).length, shown.env_unset.length)} />
      </dl>
      <Environment key={shown.terminal_id} terminal={shown} />
      {others.length > 0 && <Others terminals={others.slice(0, MAX_OTHERS)} choose={choose} />}
    </Section>
  );
}

function Others({ terminals, choose }: { terminals: readonly ThreadTerminal[]; choose(id: string): void }) {
  return (
    <>
      <p class="hint status-others-head" id="status-others">
        Also in this session
      </p>
      <ul class="plain status-others" aria-labelledby="status-others">
        {terminals.map((t) => (
          <li key={t.terminal_id}>
            <button type="button" aria-label={`Show ${callIt(t)}`} onClick={() => choose(t.terminal_id)}>
              <bdi class="cut">{callIt(t)}</bdi>
              <bdi class="cut code status-other-cwd">{clean(t.cwd)}</bdi>
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
function Environment({ terminal: { env_delta, env_unset: unset } }: { terminal: ThreadTerminal }) {
  const set = Object.entries(env_delta).sort(([a], [b]) => (a < b ? -1 : 1));
  const [open, setOpen] = useState(false);
  if (set.length + unset.length === 0) return null;
  return (
    <div class="env-delta">
      {set.length > 0 && (
        <Button
          text={open ? "Hide values" : "Show values"}
          class="small"
          aria-pressed={open}
          onClick={() => setOpen(!open)}
        />
      )}
      <ul class="plain code">
        {set.slice(0, MAX_VARIABLES).map(([name, value]) => (
          <li key={name}>
            <bdi class="env-name">{clean(name)}</bdi>
            <bdi class="env-value">
              {open ? (
                clean(value, MAX_TEXT)
              ) : (
                <span role="img" aria-label="hidden">
                  ••••••
                </span>
              )}
            </bdi>
          </li>
        ))}
        {unset.slice(0, MAX_VARIABLES).map((name) => (
          <li key={`-${name}`}>
            <del class="env-name">{clean(name)}</del>
            <span class="hint">removed</span>
          </li>
        ))}
      </ul>
      <More left={set.length - MAX_VARIABLES} />
    </div>
  );
}
