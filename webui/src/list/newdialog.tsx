import type { ComponentProps } from "preact";
import { useState } from "preact/hooks";
import { createTerminal, type Draft } from "../api/requests";
import { useApp, useStore } from "../app";
import { Modal } from "../ui/modal";
import { groups } from "./model";
import { routeTo } from "./route";

/** The session offered when no terminal is shown. */
const DEFAULT_SESSION = "main";
/** What the server allows as a session's name. */
const SESSION_PATTERN = "[A-Za-z0-9._\\-]{1,64}";

type FieldProps = ComponentProps<"input"> & { label: string; hint?: string; set(value: string): void };

function Field({ label, hint, set, ...rest }: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="text"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="none"
        onInput={(e) => set(e.currentTarget.value)}
        {...rest}
      />
      {hint && <small class="hint">{hint}</small>}
    </label>
  );
}

/** NewDialog asks for a terminal and shows it once the server has started it. */
export function NewDialog() {
  const { activeInfo, creating, drawerOpen, model } = useStore();
  const { pool } = useApp();
  const session = activeInfo.value?.session ?? DEFAULT_SESSION;
  const [draft, setDraft] = useState<Draft>({ session, command: "", cwd: "", name: "" });
  const create = async (): Promise<void> => {
    const info = await createTerminal(draft, pool.wantedSize());
    drawerOpen.value = false;
    creating.value = false;
    location.hash = routeTo(info.id);
  };
  const bind = (field: keyof Draft) => ({
    value: draft[field],
    set: (value: string): void => setDraft((d) => ({ ...d, [field]: value })),
  });
  return (
    <Modal
      title="New terminal"
      submit="Start"
      submitting="Starting…"
      onClose={() => (creating.value = false)}
      onSubmit={create}
    >
      <Field
        label="Session"
        {...bind("session")}
        pattern={SESSION_PATTERN}
        required
        list="sessions"
        hint="Letters, digits, dot, dash, underscore. A new name makes a new session."
      />
      <datalist id="sessions">
        {groups(model.value.items).map((g) => (
          <option key={g.session} value={g.session} />
        ))}
      </datalist>
      <Field
        label="Command"
        {...bind("command")}
        autofocus
        placeholder="bash -l"
        hint="A line for bash; empty starts a login shell."
      />
      <Field label="Working directory" {...bind("cwd")} placeholder="the server's default" />
      <Field label="Name" {...bind("name")} placeholder="optional" />
    </Modal>
  );
}
