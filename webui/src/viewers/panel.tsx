import { useRef } from "preact/hooks";
import { kickViewer } from "../api/requests";
import type { Present } from "../api/wire";
import { useApp, useStore } from "../app";
import { Button } from "../ui/button";
import { Icon } from "../ui/icons";
import { Popover } from "../ui/popover";
import { Spoken } from "../ui/spoken";
import { clean } from "../ui/text";
import { nameOfViewer, others, unwatched, type Watch } from "./watch";

/** Viewers says who watches the terminal on display, who types and who holds the keyboard. Alone there is nothing to say. */
export function Viewers() {
  const { activeId, model } = useStore();
  const id = activeId.value;
  const watch = model.value.watched.get(id ?? "") ?? unwatched;
  if (id === null || watch.removed || (watch.number <= 1 && watch.holder === "")) return null;
  const said = summary(watch);
  const asked = watch.requests.length > 0 && watch.holder === watch.self;
  const face = (
    <>
      <Icon name={watch.holder === "" ? "eye" : "lock"} /> {watch.number}
      <span class="viewers-typing">{typists(watch)}</span>
    </>
  );
  return (
    <>
      <Popover
        id="viewers"
        label="Viewers"
        title={said}
        class={asked ? "viewers-button asked" : "viewers-button"}
        face={face}
      >
        <Body id={id} watch={watch} />
      </Popover>
      <Spoken text={said} />
    </>
  );
}

/** typists names who types besides this page. */
function typists(watch: Watch): string {
  const names = others(watch)
    .filter((p) => p.typing)
    .map((p) => clean(nameOfViewer(watch, p.id)));
  return names.length === 0 ? "" : names.length === 1 ? `${names[0]} types` : `${names.length} type`;
}

function summary(watch: Watch): string {
  const count = `${watch.number} ${watch.number === 1 ? "viewer" : "viewers"}`;
  if (watch.holder === "") return count;
  return `${count}, ${watch.holder === watch.self ? "you hold" : `${clean(nameOfViewer(watch, watch.holder))} holds`} the keyboard`;
}

function Body({ id, watch }: { id: string; watch: Watch }) {
  const { connection } = useApp();
  const { guest, mayType } = useStore();
  const act = (action: "lock" | "unlock" | "request"): void => {
    connection.send({ type: "control", pty: id, action });
  };
  const asks = watch.requests.includes(watch.self);
  return (
    <>
      <ul>
        {watch.present.map((p) => (
          <Row key={p.id} id={id} watch={watch} one={p} />
        ))}
      </ul>
      {watch.present.length === 0 && <p class="hint">{watch.number} watch.</p>}
      {mayType.value && (
        <div class="viewers-actions">
          {watch.holder === "" && <Button text="Lock the keyboard" onClick={() => act("lock")} />}
          {watch.holder !== "" && watch.holder !== watch.self && (
            <Button
              text={asks ? "You have asked" : "Ask for the keyboard"}
              disabled={asks}
              onClick={() => act("request")}
            />
          )}
          {watch.holder !== "" && (!guest || watch.holder === watch.self) && (
            <Button text="Let everybody type" onClick={() => act("unlock")} />
          )}
        </div>
      )}
      <Name />
    </>
  );
}

/** Row is one viewer, and what may be done about it. */
function Row({ id, watch, one }: { id: string; watch: Watch; one: Present }) {
  const { connection } = useApp();
  const { guest, toastError } = useStore();
  const name = clean(nameOfViewer(watch, one.id));
  const self = one.id === watch.self;
  const asks = watch.requests.includes(one.id);
  const mine = !guest || watch.holder === watch.self; // the keyboard is this page's to give
  const act = (action: "grant" | "deny"): void => {
    connection.send({ type: "control", pty: id, action, viewer: one.id });
  };
  return (
    <li class="viewers-row">
      <span class="cut">
        <bdi>{name}</bdi>
        {self && " (you)"}
      </span>
      <span class="hint">{doing(watch, one)}</span>
      {asks && mine && <Button text="Deny" aria-label={`Deny ${name} the keyboard`} onClick={() => act("deny")} />}
      {mine && watch.holder !== "" && one.id !== watch.holder && one.role !== "read" && (
        <Button text="Give" aria-label={`Give ${name} the keyboard`} onClick={() => act("grant")} />
      )}
      {!self && !guest && (
        <Button
          text="Remove"
          aria-label={`Remove ${name}`}
          onClick={() => void kickViewer(id, one.id).catch(toastError)}
        />
      )}
    </li>
  );
}

function doing(watch: Watch, one: Present): string {
  if (watch.requests.includes(one.id)) return "asks for the keyboard";
  if (one.id === watch.holder) return one.typing ? "types" : "holds the keyboard";
  if (one.typing) return "types";
  return one.role === "read" ? "looks" : "";
}

/** Name is what the others see this page as. */
function Name() {
  const app = useApp();
  const input = useRef<HTMLInputElement>(null);
  const submit = (e: Event): void => {
    e.preventDefault();
    app.setName(input.current?.value ?? "");
  };
  return (
    <form class="viewers-name" onSubmit={submit}>
      <label>
        Your name <input ref={input} value={app.name()} maxLength={40} />
      </label>
      <button type="submit">Save</button>
    </form>
  );
}
