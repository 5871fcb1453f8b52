import { useState } from "preact/hooks";
import { groups } from "./model";
import { Modal } from "../ui/modal";
import { pool } from "../page";
import { createTerminal, type Draft } from "../api/requests";
import { routeTo } from "./route";
import { activeInfo, creating, drawerOpen, model } from "../store";

/** The session offered when no terminal is shown. */
const DEFAULT_SESSION = "main";
/** What the server allows as a session's name. */
const SESSION_PATTERN = "[A-Za-z0-9._\\-]{1,64}";

interface FieldProps {
  label: string;
  hint?: string;
  value: string;
  set(value: string): void;
  pattern?: string;
  required?: boolean;
  list?: string;
  autofocus?: boolean;
  placeholder?: string;
}

function Field({ label, hint, value, set, ...rest }: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input type="text" value={value} spellcheck={false} autocomplete="off" autocapitalize="none" onInput={(e) => set(e.currentTarget.value)} {...rest} />
      {hint && <small>{hint}</small>}
    </label>
  );
}

/** useDraft keeps the form's fields and sends them; the dialog stays, with the reason, when the server refuses. */
function useDraft() {
  const [draft, setDraft] = useState<Draft>({ session: activeInfo.value?.session ?? DEFAULT_SESSION, command: "", cwd: "", name: "" });
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setError("");
    try {
      const info = await createTerminal(draft, pool.wish());
      drawerOpen.value = false;
      creating.value = false;
      location.hash = routeTo(info.id);
    } catch (e) {
      setError(e instanceof Error ? e.message : String(e));
      setBusy(false);
    }
  };
  const set = (field: keyof Draft) => (value: string) => setDraft((d) => ({ ...d, [field]: value }));
  return { draft, set, error, busy, submit };
}

/** NewDialog asks for a terminal and shows it once the server has started it. */
export function NewDialog() {
  const { draft, set, error, busy, submit } = useDraft();
  const close = (): void => void (creating.value = false);
  return (
    <Modal title="New terminal" onClose={close} onSubmit={() => void submit()}>
      <Field label="Session" value={draft.session} set={set("session")} pattern={SESSION_PATTERN} required list="sessions" hint="Letters, digits, dot, dash, underscore. A new name makes a new session." />
      <datalist id="sessions">
        {groups(model.value.items).map((g) => (
          <option key={g.session} value={g.session} />
        ))}
      </datalist>
      <Field label="Command" value={draft.command} set={set("command")} autofocus placeholder="bash -l" hint="A line for bash; empty starts a login shell." />
      <Field label="Working directory" value={draft.cwd} set={set("cwd")} placeholder="the server's default" />
      <Field label="Name" value={draft.name} set={set("name")} placeholder="optional" />
      {error && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
      <div class="modal-actions">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={busy}>
          {busy ? "Starting…" : "Start"}
        </button>
      </div>
    </Modal>
  );
}
