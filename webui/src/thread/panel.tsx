import { useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { useApp, useStore } from "../app";
import { ApprovalBadge } from "../conversation/approvalbadge";
import { ConversationPanel } from "../conversation/panel";
import { StatusBadge } from "../ui/badge";
import { Icon } from "../ui/icons";
import { Spoken } from "../ui/spoken";
import { type Tab, TabPanel, Tabs } from "../ui/tabs";
import { clean } from "../ui/text";
import { ThreadDetails } from "./details";
import { Expiry } from "./expiry";
import { terminalInView } from "./thread";

/** Where the details are, for aria-controls. */
const DETAILS_ID = "session-status";

const TABS: ReadonlyArray<Tab<"status" | "conversation">> = [
  { id: "status", label: "Status" },
  { id: "conversation", label: "Conversation" },
];

/**
 * ThreadPanel shows the session, state, lease and conversation of the terminal on display, which outlive it.
 * Closed it is one line of badges in the header; open it lies over the stage, so that neither changes the terminal's
 * size. Without a thread that the server shows to us there is none.
 */
export function ThreadPanel() {
  const { activeId, activeInfo, searching, statusOpen, statusTab } = useStore();
  const { threadState } = useApp();
  const open = statusOpen.value;
  const button = useRef<HTMLButtonElement>(null);
  const thread = threadState.thread.value;
  const tab = statusTab.value;
  const info = activeInfo.value;
  useSignalEffect(() => {
    if (searching.value) statusOpen.value = false; // both are at the same place
  });
  if (!info || thread.lease === null) return null;
  const onKey = (e: KeyboardEvent): void => {
    if (e.key !== "Escape" || !open) return;
    e.stopPropagation();
    statusOpen.value = false;
    button.current?.focus();
  };
  return (
    <section class="session-status-panel" aria-label="Session status" onKeyDown={onKey}>
      <ApprovalBadge />
      <Summary button={button} />
      {open && (
        <div class={`session-status-body ${tab}`} id={DETAILS_ID}>
          <Tabs
            name="status"
            label="About this session"
            tabs={TABS}
            chosen={tab}
            choose={(id) => (statusTab.value = id)}
          />
          {tab === "conversation" ? (
            <ConversationPanel key={info.session} thread={info.session} />
          ) : (
            <TabPanel name="status" chosen={tab} class="panel-scroll">
              {!thread.notice?.over && <Expiry />}
              <ThreadDetails key={activeId.value} thread={thread} />
            </TabPanel>
          )}
        </div>
      )}
    </section>
  );
}

function Summary({ button }: { button: RefObject<HTMLButtonElement | null> }) {
  const { activeId, searching, statusOpen } = useStore();
  const { threadState } = useApp();
  const open = statusOpen.value;
  const { session, lease } = threadState.thread.value;
  const version = terminalInView(threadState.thread.value, activeId.value)?.version ?? 0;
  const status = clean(session?.status ?? "no session");
  const provider = clean(lease?.provider_name ?? "");
  const observed = clean(lease?.observed_state || "unknown");
  const said = `Session ${status}, ${provider} lease ${observed}`;
  const toggle = (): void => {
    searching.value = false;
    statusOpen.value = !open;
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="session-status-header"
        aria-label={`${said}, terminal version ${version}`}
        aria-expanded={open}
        aria-controls={DETAILS_ID}
        title={open ? "Hide the session's details" : `${said}. Show details`}
        onClick={toggle}
      >
        <StatusBadge status={status} />
        <StatusBadge status={observed} provider={provider} />
        <span class="version-badge">v{version}</span>
        <Icon name={open ? "up" : "down"} />
      </button>
      <Spoken text={said} />
    </>
  );
}
