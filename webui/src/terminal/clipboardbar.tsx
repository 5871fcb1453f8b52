import { useApp } from "../app";
import { nameOf } from "../list/label";
import { activeInfo } from "../store";
import { IconButton } from "../ui/button";

/** ClipboardBar asks whether the terminal on display may write to the clipboard, once for each terminal. */
export function ClipboardBar() {
  const { clipboardAccess } = useApp();
  const info = activeInfo.value;
  const waits = info && clipboardAccess.waiting.value.get(info.id);
  if (!waits) return null;
  const what = `${waits.text.length} ${waits.text.length === 1 ? "character" : "characters"}`;
  return (
    <div class="card bar clipboard-bar" role="alertdialog" aria-label="Clipboard">
      <span>
        {waits.why === "ask"
          ? `May ${nameOf(info)} write to your clipboard? Now: ${what}.`
          : `${nameOf(info)} writes ${what} to your clipboard.`}
      </span>
      {waits.why === "ask" ? (
        <>
          <button type="button" class="primary" onClick={() => void clipboardAccess.answer(info.id, true)}>
            Allow
          </button>
          <button type="button" onClick={() => void clipboardAccess.answer(info.id, false)}>
            Deny
          </button>
        </>
      ) : (
        <button type="button" class="primary" onClick={() => void clipboardAccess.copy(info.id)}>
          Copy
        </button>
      )}
      <IconButton icon="close" label="Dismiss clipboard" onClick={() => clipboardAccess.drop(info.id)} />
    </div>
  );
}
