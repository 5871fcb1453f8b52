import { useRef } from "preact/hooks";
import { Icon } from "../ui/icons";
import { useNow } from "../ui/now";
import { feed } from "../page";
import { changeThread } from "../api/requests";
import { activeInfo, toast } from "../store";
import type { Notice } from "./thread";
import { canKeepAlive, countdown, noticeText, roughly } from "./text";

/** The countdown is redrawn this often, in milliseconds. */
const TICK_MS = 250;

/** Expiry says that the session of the terminal on display ends soon, or has just ended. It takes no room of its own. */
export function Expiry() {
  const { notice } = feed.thread.value;
  const thread = activeInfo.value?.session;
  if (notice === null || notice.dismissed || thread === undefined) return null;
  return (
    <div class={notice.over ? "expiry over" : "expiry"}>
      <p class="expiry-text" role="status">
        {noticeText(notice)} {!notice.over && <Left key={notice.at} notice={notice} />}
      </p>
      {canKeepAlive(notice) && (
        <button type="button" class="primary" onClick={() => void keepAlive(thread)}>
          Keep alive
        </button>
      )}
      <button type="button" class="icon-button" aria-label="Dismiss notice" onClick={() => feed.dismiss()}>
        <Icon name="close" />
      </button>
    </div>
  );
}

/** Left is the time left: counted down for those who look, said once to those who listen. */
function Left({ notice }: { notice: Notice }) {
  const now = useNow(true, TICK_MS) + feed.thread.value.clock;
  const said = useRef(roughly(notice.at - now));
  return (
    <>
      <span class="spoken">{said.current}</span>
      <b class="left" aria-hidden="true">
        {countdown(notice.at - now)}
      </b>
    </>
  );
}

async function keepAlive(thread: string): Promise<void> {
  try {
    await changeThread(thread, "touch");
    feed.refresh();
  } catch (e) {
    toast(e instanceof Error ? e.message : "The session was not kept alive.");
  }
}
