import { pageSecret } from "../api/credential";
import { logOut } from "../api/requests";
import type { Terminal } from "../api/wire";
import { useApp, useStore } from "../app";
import { Button, IconButton } from "../ui/button";
import { Icon } from "../ui/icons";
import { clean } from "../ui/text";
import { detailOf, failed, nameOf, stateText } from "./label";
import { type Group, groups } from "./model";
import { routeTo } from "./route";

/** States with a colour of their own; a newer server's others look like "restored". */
const KNOWN_STATES = new Set(["running", "exited", "lost", "restored"]);

export function StateBadge({ info }: { info: Terminal }) {
  const kind = KNOWN_STATES.has(info.state) ? info.state : "restored";
  return <span class={failed(info) ? `dot badge ${kind} failed` : `dot badge ${kind}`}>{stateText(info)}</span>;
}

function Viewers({ count }: { count: number }) {
  const label = count === 1 ? "1 viewer" : `${count} viewers`;
  return (
    <span class="hint viewers" role="img" title={label} aria-label={label}>
      <Icon name="eye" />
      {count}
    </span>
  );
}

function Row({ info }: { info: Terminal }) {
  const { activeId, closing, drawerOpen, guest, model } = useStore();
  const name = nameOf(info);
  const current = info.id === activeId.value;
  const rang = model.value.attention.has(info.id);
  return (
    <li class={current ? "row current" : "row"}>
      <a
        class="row-link"
        href={routeTo(info.id)}
        aria-current={current ? "page" : undefined}
        onClick={() => (drawerOpen.value = false)}
      >
        <span class="cut row-name">
          <bdi>{name}</bdi>
          {rang && (
            <span class="rang" role="img" aria-label="wants attention" title="Wants attention">
              <Icon name="bell" />
            </span>
          )}
        </span>
        <span class="cut hint row-detail">
          <bdi>{detailOf(info)}</bdi>
        </span>
        <span class="row-facts">
          <StateBadge info={info} />
          <Viewers count={info.viewers} />
        </span>
      </a>
      {!guest && (
        <IconButton
          icon="close"
          label={`Close ${name}`}
          title="Close"
          class="row-close"
          onClick={() => (closing.value = info)}
        />
      )}
    </li>
  );
}

function Session({ group }: { group: Group }) {
  return (
    <section class="session" aria-label={`Session ${clean(group.session)}`}>
      <h2>
        <bdi>{clean(group.session)}</bdi>
        <span class="session-count">{group.items.length}</span>
      </h2>
      <ul class="plain">
        {group.items.map((info) => (
          <Row key={info.id} info={info} />
        ))}
      </ul>
    </section>
  );
}

const LINK_TEXT = {
  open: "Connected",
  connecting: "Connecting…",
  reconnecting: "Reconnecting…",
  unauthorized: "Not logged in",
} as const;

function LinkState() {
  const { guest, tabOnly, toastError } = useStore();
  const { connection } = useApp();
  const { state } = connection.status.value;
  const until = tabOnly.value && " until this tab is closed: your browser keeps nothing for this page.";
  return (
    <footer class={`dot link-state ${state}`}>
      {guest && state === "unauthorized" ? "Ended" : LINK_TEXT[state]}
      {state === "open" && until}
      {state === "open" && pageSecret() !== "" && (
        <Button text="Log out" class="small" onClick={() => void logOut().catch(toastError)} />
      )}
    </footer>
  );
}

/** TerminalList is every terminal of the server, by session. On narrow pages it is a drawer. */
export function TerminalList() {
  const { creating, guest, model } = useStore();
  const { items, listed } = model.value;
  return (
    <nav class="side" id="terminals" aria-label="Terminals">
      <header class="side-head">
        <a class="logo" href="#/">
          evertty
        </a>
        {!guest && (
          <button type="button" class="primary new" onClick={() => (creating.value = true)}>
            <Icon name="plus" />
            New terminal
          </button>
        )}
      </header>
      <div class="side-scroll">
        {groups(items).map((group) => (
          <Session key={group.session} group={group} />
        ))}
        {listed && items.length === 0 && <p class="none">No terminals yet.</p>}
      </div>
      <LinkState />
    </nav>
  );
}
