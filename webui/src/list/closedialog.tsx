import { closeTerminal } from "../api/requests";
import type { Terminal } from "../api/wire";
import { useStore } from "../app";
import { Modal } from "../ui/modal";
import { nameOf } from "./label";
import { hasEnded } from "./model";

/** CloseDialog asks before a terminal's processes are ended, or its last screen is taken off the list. */
export function CloseDialog({ info }: { info: Terminal }) {
  const { activeId, closing } = useStore();
  const over = hasEnded(info.state);
  const close = async (): Promise<void> => {
    await closeTerminal(info);
    closing.value = null;
    if (activeId.value === info.id) location.hash = "#/";
  };
  return (
    <Modal
      title={over ? "Remove this terminal?" : "Close this terminal?"}
      submit={over ? "Remove" : "Close"}
      danger
      onClose={() => (closing.value = null)}
      onSubmit={close}
    >
      <p>
        <strong>
          <bdi>{nameOf(info)}</bdi>
        </strong>{" "}
        {over ? "leaves the list with its last screen." : "and every process in it will be ended."}
      </p>
    </Modal>
  );
}
