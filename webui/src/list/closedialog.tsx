import { useState } from "preact/hooks";
import { nameOf } from "./label";
import { Modal } from "../ui/modal";
import { hasEnded } from "./model";
import type { Info } from "../api/wire";
import { closeTerminal } from "../api/requests";
import { activeId, closing } from "../store";

/** ConfirmClose asks before a terminal's processes are ended, or its last screen is taken off the list. */
export function ConfirmClose({ info }: { info: Info }) {
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const cancel = (): void => void (closing.value = null);
  const over = hasEnded(info.state);
  const submit = async (): Promise<void> => {
    if (busy) return;
    setBusy(true);
    try {
      await closeTerminal(info);
      closing.value = null;
      if (activeId.value === info.id) location.hash = "#/";
    } catch (e) {
      setError(e instanceof Error ? e.message : String(e));
      setBusy(false);
    }
  };
  return (
    <Modal title={over ? "Remove this terminal?" : "Close this terminal?"} onClose={cancel} onSubmit={() => void submit()}>
      <p>
        <strong>
          <bdi>{nameOf(info)}</bdi>
        </strong>{" "}
        {over ? "leaves the list with its last screen." : "and every process in it will be ended."}
      </p>
      {error && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
      <div class="modal-actions">
        <button type="button" autofocus onClick={cancel}>
          Cancel
        </button>
        <button type="submit" class="danger" disabled={busy}>
          {over ? "Remove" : "Close"}
        </button>
      </div>
    </Modal>
  );
}
