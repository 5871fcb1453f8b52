import { useRef } from "preact/hooks";
import { changeThread } from "../api/requests";
import { useApp, useStore } from "../app";
import { Button, IconButton } from "../ui/button";
import { useNow } from "../ui/now";
import { canKeepAlive, countdown, noticeText, roughly } from "./text";
import type { Notice } from "./thread";

/** The countdown is redrawn this often, in milliseconds. */
const TICK_MS = 250;

/** Expiry says that the session of the terminal on display ends soon, or has ended. It takes no room of its own. */
export function Expiry() {
  const { activeInfo, toastError } = useStore();
  const { threadState } = useApp();
  const { notice } = threadState.thread.value;
  const thread = activeInfo.value?.session;
  if (notice === null || notice.dismissed || thread === undefined) return null;
  const keepAlive = async (): Promise<void> => {
    await changeThread(thread, "touch").catch(toastError);
    threadState.refresh();
  };
  return (
    <div class={notice.over ? "card expiry over" : "card expiry"}>
      <p class="expiry-text" role="status">
        {noticeText(notice)} {!notice.over && <Left key={notice.at} notice={notice} />}
      </p>
      {canKeepAlive(notice) && <Button text="Keep alive" class="primary" onClick={() => void keepAlive()} />}
      <IconButton icon="close" label="Dismiss notice" onClick={() => threadState.dismiss()} />
    </div>
  );
}

/** Left is the time left: counted down for those who look, said once to those who listen. */
function Left({ notice }: { notice: Notice }) {
  const { threadState } = useApp();
  const now = useNow(true, TICK_MS) + threadState.thread.value.clock;
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
