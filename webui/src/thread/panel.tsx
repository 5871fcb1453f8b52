import { useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import { ApprovalBadge } from "../conversation/approvalbadge";
import { Expiry } from "./expiry";
import { Icon } from "../ui/icons";
import { clean } from "../list/label";
import { feed } from "../page";
import { RecordPanel } from "../conversation/panel";
import { Spoken } from "../ui/spoken";
import { StatusBadge } from "../ui/badge";
import { StatusDetails } from "./details";
import { activeId, activeInfo, searching, statusOpen, statusTab } from "../store";
import { TabPanel, Tabs, type Tab } from "../ui/tabs";
import { terminalInView } from "./thread";

/** Where the details are, for aria-controls. */
const DETAILS_ID = "session-status";

const TABS: ReadonlyArray<Tab<"status" | "record">> = [
  { id: "status", label: "Status" },
  { id: "record", label: "Record" },
];

/**
 * StatusPanel is what is durable about the terminal on display: session, state and lease, and the record of who drives it.
 * Closed it is one line of badges in the header; open it lies over the stage, so that neither changes the terminal's size.
 * Without a thread that the server shows to us there is none.
 */
export function StatusPanel() {
  const open = statusOpen.value;
  const button = useRef<HTMLButtonElement>(null);
  const thread = feed.thread.value;
  const tab = statusTab.value;
  useSignalEffect(() => {
    if (searching.value) statusOpen.value = false; // both are at the same place
  });
  if (!activeInfo.value || thread.lease === null) return null;
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
        <div class={tab === "record" ? "session-status-body wide" : "session-status-body"} id={DETAILS_ID}>
          <Tabs name="status" label="About this session" tabs={TABS} chosen={tab} choose={(id) => (statusTab.value = id)} />
          {tab === "record" ? (
            <RecordPanel key={activeInfo.value.session} thread={activeInfo.value.session} />
          ) : (
            <TabPanel name="status" chosen={tab} class="status-scroll">
              {!thread.notice?.over && <Expiry />}
              <StatusDetails key={activeId.value} thread={thread} />
            </TabPanel>
          )}
        </div>
      )}
    </section>
  );
}

function Summary({ button }: { button: RefObject<HTMLButtonElement | null> }) {
  const open = statusOpen.value;
  const thread = feed.thread.value;
  const version = terminalInView(thread, activeId.value)?.version ?? 0;
  const status = clean(thread.session?.status ?? "no session");
  const provider = clean(thread.lease?.provider ?? "");
  const observed = clean(thread.lease?.observed ?? "unknown");
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
