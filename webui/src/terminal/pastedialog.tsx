import { useState } from "preact/hooks";
import { useApp, useStore } from "../app";
import { Modal } from "../ui/modal";

/** PasteDialog takes what the user pastes into it, where the page may not read the clipboard by itself. */
export function PasteDialog({ terminal }: { terminal: string }) {
  const { pasting } = useStore();
  const app = useApp();
  const [text, setText] = useState("");
  const close = (): void => {
    pasting.value = null;
  };
  const send = (pasted: string): void => {
    close();
    if (pasted !== "") app.sendPaste(terminal, pasted);
  };
  const onPaste = (e: ClipboardEvent): void => {
    const pasted = e.clipboardData?.getData("text/plain") ?? "";
    if (text !== "" || pasted === "") return; // the user completes a text that is there already
    e.preventDefault();
    send(pasted);
  };
  return (
    <Modal title="Paste" submit="Paste" onClose={close} onSubmit={async () => send(text)}>
      <label class="field">
        <span>The browser does not let this page read the clipboard. Paste the text here.</span>
        <textarea
          rows={3}
          value={text}
          autofocus
          spellcheck={false}
          autocomplete="off"
          autocapitalize="none"
          onInput={(e) => setText(e.currentTarget.value)}
          onPaste={onPaste}
        />
      </label>
    </Modal>
  );
}
