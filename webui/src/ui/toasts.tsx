import { dismiss, toasts } from "../store";
import { IconButton } from "./button";

/** Toasts are short-lived lines: refusals of the server and notifications of programs. */
export function Toasts() {
  return (
    <div class="toasts" role="log" aria-live="polite" aria-label="Messages">
      {toasts.value.map((t) => (
        <div key={t.id} class="card toast">
          <span>{t.text}</span>
          {t.action && (
            <button
              type="button"
              onClick={() => {
                t.action?.run();
                dismiss(t.id);
              }}
            >
              {t.action.label}
            </button>
          )}
          <IconButton icon="close" label="Dismiss message" onClick={() => dismiss(t.id)} />
        </div>
      ))}
    </div>
  );
}
