import { record } from "../page";
import { RecordApprovals } from "./approvals";
import type { Section } from "./conversation";
import { RecordLedger } from "./ledger";
import { RecordMessages } from "./messagelist";
import { RecordTimeline } from "./timeline";
import { RecordUsage } from "./usage";
import { recordSection } from "../store";
import { TabPanel, Tabs, type Tab } from "../ui/tabs";

const NAMES: ReadonlyArray<Tab<Section>> = [
  { id: "messages", label: "Messages" },
  { id: "timeline", label: "Timeline" },
  { id: "ledger", label: "Ledger" },
  { id: "usage", label: "Usage" },
  { id: "approvals", label: "Approvals" },
];

/** RecordPanel is the record of who drives a thread, one section at a time, and the calls that somebody has to decide about. */
export function RecordPanel({ thread }: { thread: string }) {
  const chosen = recordSection.value;
  const tabs = NAMES.map((t) => (t.id === "approvals" ? { ...t, waiting: record.pending.value.length } : t));
  return (
    <div class="status-scroll-frame" role="tabpanel" id="status-panel" aria-labelledby="status-tab-record">
      <Tabs name="record" label="Parts of the record" tabs={tabs} chosen={chosen} choose={(id) => (recordSection.value = id)} />
      {record.stale.value && (
        <p class="record-stale" role="status">
          The server does not answer. This is how things were.
        </p>
      )}
      {chosen === "messages" && record.messages.value !== null && !record.none.value ? (
        <RecordMessages held={record.messages.value} />
      ) : (
        <TabPanel name="record" chosen={chosen} class="status-scroll">
          <Shown section={chosen} thread={thread} />
        </TabPanel>
      )}
    </div>
  );
}

function Shown({ section, thread }: { section: Section; thread: string }) {
  if (section === "approvals") return record.decisions.value ? <RecordApprovals thread={thread} decisions={record.decisions.value} /> : <Waiting />;
  if (record.none.value) return <p class="record-empty">Nobody who drives this thread has written a record yet.</p>;
  const { timeline, ledger, usage } = record;
  if (section === "timeline" && timeline.value) return <RecordTimeline timeline={timeline.value} />;
  if (section === "ledger" && ledger.value) return <RecordLedger ledger={ledger.value} />;
  if (section === "usage" && usage.value) return <RecordUsage usage={usage.value} />;
  return <Waiting />;
}

const Waiting = () => <p class="record-empty">Reading…</p>;
