import { Icon } from "../ui/icons";
import { nameOf } from "../list/label";
import { guard } from "../page";
import { activeInfo } from "../store";

/** ClipboardBar asks whether the terminal on display may write to the clipboard, once for each terminal. */
export function ClipboardBar() {
  const info = activeInfo.value;
  const waits = info && guard.waiting.value.get(info.id);
  if (!waits) return null;
  const what = `${waits.text.length} ${waits.text.length === 1 ? "character" : "characters"}`;
  return (
    <div class="clipboard-bar" role="alertdialog" aria-label="Clipboard">
      <span>
        {waits.why === "ask" ? `May ${nameOf(info)} write to your clipboard? Now: ${what}.` : `${nameOf(info)} writes ${what} to your clipboard.`}
      </span>
      {waits.why === "ask" ? (
        <>
          <button type="button" class="primary" onClick={() => void guard.answer(info.id, true)}>
            Allow
          </button>
          <button type="button" onClick={() => void guard.answer(info.id, false)}>
            Deny
          </button>
        </>
      ) : (
        <button type="button" class="primary" onClick={() => void guard.copy(info.id)}>
          Copy
        </button>
      )}
      <button type="button" class="icon-button" aria-label="Dismiss clipboard" onClick={() => guard.drop(info.id)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
