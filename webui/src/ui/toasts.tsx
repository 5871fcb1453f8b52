import { useStore } from "../app";
import { Button, IconButton } from "./button";

/** Toasts are short-lived lines: refusals of the server and notifications of programs. */
export function Toasts() {
  const { dismiss, toasts } = useStore();
  return (
    <div class="toasts" role="log" aria-live="polite" aria-label="Messages">
      {toasts.value.map((t) => (
        <div key={t.id} class="card toast">
          <span>{t.text}</span>
          {t.action && (
            <Button
              text={t.action.label}
              onClick={() => {
                t.action?.run();
                dismiss(t.id);
              }}
            />
          )}
          <IconButton icon="close" label="Dismiss message" onClick={() => dismiss(t.id)} />
        </div>
      ))}
    </div>
  );
}
