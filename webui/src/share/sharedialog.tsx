import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { createShare } from "../api/requests";
import type { MadeShare, Terminal } from "../api/wire";
import { useStore } from "../app";
import { nameOf } from "../list/label";
import { Modal } from "../ui/modal";
import { clean } from "../ui/text";
import { LinkList } from "./linklist";
import { useLinks } from "./links";
import { MadeLink } from "./madelink";
import { EXPIRIES, orderOf } from "./order";

function Choice({ label, children, ...rest }: { label: string; name: string; children: ComponentChildren }) {
  return (
    <label class="field">
      <span>{label}</span>
      <select {...rest}>{children}</select>
    </label>
  );
}

/** ShareDialog makes links for the terminal on display or its session, and lists and revokes those that there are. */
export function ShareDialog({ info }: { info: Terminal }) {
  const { sharing } = useStore();
  const links = useLinks();
  const [made, setMade] = useState<MadeShare | null>(null);
  const make = async (form: HTMLFormElement): Promise<void> => {
    setMade(await createShare(orderOf(new FormData(form), info)));
    links.refresh();
  };
  return (
    <Modal
      title={`Share ${nameOf(info)}`}
      submit="Make a link"
      submitting="Making…"
      cancel="Close"
      onClose={() => (sharing.value = null)}
      onSubmit={make}
    >
      {made && <MadeLink key={made.id} made={made} />}
      <div class="share-order">
        <Choice label="What" name="what">
          <option value="pty">This terminal</option>
          <option value="session">All of session {clean(info.session)}</option>
        </Choice>
        <Choice label="Viewers may" name="role">
          <option value="read">look only</option>
          <option value="write">also type</option>
        </Choice>
        <Choice label="Expires after" name="ttl">
          {EXPIRIES.map(([seconds, text]) => (
            <option key={seconds} value={seconds} selected={text === "1 hour"}>
              {text}
            </option>
          ))}
        </Choice>
        <label class="field">
          <span>Opens at most</span>
          <input type="number" name="uses" min={1} max={1000} placeholder="any number of times" />
        </label>
        <label class="field share-name">
          <span>Name</span>
          <input type="text" name="name" maxLength={64} placeholder="optional, its viewers see it" autocomplete="off" />
        </label>
      </div>
      <LinkList links={links} />
    </Modal>
  );
}
