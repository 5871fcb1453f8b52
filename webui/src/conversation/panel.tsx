import { useApp, useStore } from "../app";
import { type Tab, TabPanel, Tabs } from "../ui/tabs";
import { Approvals } from "./approvals";
import { Ledger } from "./ledger";
import { MessageList } from "./messagelist";
import type { Section } from "./state";
import { Timeline } from "./timeline";
import { Usage } from "./usage";

const NAMES: ReadonlyArray<Tab<Section>> = [
  { id: "messages", label: "Messages" },
  { id: "timeline", label: "Timeline" },
  { id: "ledger", label: "Ledger" },
  { id: "usage", label: "Usage" },
  { id: "approvals", label: "Approvals" },
];

/** ConversationPanel shows the conversation and the approvals of a thread, one section at a time. */
export function ConversationPanel({ thread }: { thread: string }) {
  const { conversationSection } = useStore();
  const { conversation, feed } = useApp();
  const chosen = conversationSection.value;
  const tabs = NAMES.map((t) => (t.id === "approvals" ? { ...t, waiting: conversation.pending.value.length } : t));
  const choose = (id: Section): void => {
    conversationSection.value = id;
  };
  return (
    <div class="panel-frame" role="tabpanel" id="status-panel" aria-labelledby="status-tab-conversation">
      <Tabs name="conversation" label="Parts of the conversation" tabs={tabs} chosen={chosen} choose={choose} />
      {feed.stale.value && (
        <p class="stale" role="status">
          The server does not answer. This is how things were.
        </p>
      )}
      {chosen === "messages" && conversation.messages.value !== null && !conversation.none.value ? (
        <MessageList held={conversation.messages.value} />
      ) : (
        <TabPanel name="conversation" chosen={chosen} class="panel-scroll">
          <Shown section={chosen} thread={thread} />
        </TabPanel>
      )}
    </div>
  );
}

function Shown({ section, thread }: { section: Section; thread: string }) {
  const { decisions, none, timeline, ledger, usage } = useApp().conversation;
  if (section === "approvals")
    return decisions.value ? <Approvals thread={thread} decisions={decisions.value} /> : <Reading />;
  if (none.value) return <p class="none">This thread has no conversation yet.</p>;
  if (section === "timeline" && timeline.value) return <Timeline timeline={timeline.value} />;
  if (section === "ledger" && ledger.value) return <Ledger ledger={ledger.value} />;
  if (section === "usage" && usage.value) return <Usage usage={usage.value} />;
  return <Reading />;
}

const Reading = () => <p class="none">Reading…</p>;
