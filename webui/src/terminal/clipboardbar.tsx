import { useApp, useStore } from "../app";
import { nameOf } from "../list/label";
import { Button, IconButton } from "../ui/button";
import { counted } from "../ui/text";

/** ClipboardBar asks whether the terminal on display may write to the clipboard, once for each terminal. */
export function ClipboardBar() {
  const { activeInfo } = useStore();
  const { clipboardAccess } = useApp();
  const info = activeInfo.value;
  const waits = info && clipboardAccess.waiting.value.get(info.id);
  if (!waits) return null;
  const what = counted(waits.text.length, "character");
  return (
    <div class="card bar clipboard-bar" role="alertdialog" aria-label="Clipboard">
      <span>
        {waits.why === "ask"
          ? `May ${nameOf(info)} write to your clipboard? Now: ${what}.`
          : `${nameOf(info)} writes ${what} to your clipboard.`}
      </span>
      {waits.why === "ask" ? (
        <>
          <Button text="Allow" class="primary" onClick={() => void clipboardAccess.answer(info.id, true)} />
          <Button text="Deny" onClick={() => void clipboardAccess.answer(info.id, false)} />
        </>
      ) : (
        <Button text="Copy" class="primary" onClick={() => void clipboardAccess.copy(info.id)} />
      )}
      <IconButton icon="close" label="Dismiss clipboard" onClick={() => clipboardAccess.drop(info.id)} />
    </div>
  );
}
