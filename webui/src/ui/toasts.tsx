import { Icon } from "./icons";
import { dismiss, toasts } from "../store";

/** Toasts are short-lived lines: refusals of the server and notifications of programs. */
export function Toasts() {
  return (
    <div class="toasts" role="log" aria-live="polite" aria-label="Messages">
      {toasts.value.map((t) => (
        <div key={t.id} class="toast">
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
          <button type="button" class="icon-button" aria-label="Dismiss message" onClick={() => dismiss(t.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
