import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Failure, useAction } from "./action";
import { Button } from "./button";

interface Props {
  title: string;
  submit: string;
  /** What the button says while onSubmit runs. */
  submitting?: string;
  /** What closes it without that. */
  cancel?: string;
  /** Submitting ends something, so that the first focus is on Cancel. */
  danger?: boolean;
  onClose(): void;
  /** When it fails, the dialog stays and says why. */
  onSubmit(form: HTMLFormElement): Promise<void>;
  children: ComponentChildren;
}

/** Modal is a form in the browser's own modal dialog, which keeps the focus inside and closes on Escape. */
export function Modal(props: Props) {
  const { title, submit, submitting = submit, cancel = "Cancel", danger = false, onClose, onSubmit, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const { busy, error, run } = useAction();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus(); // the browser does so only when it closes the dialog itself
    };
  }, []);
  const submitted = (e: Event): void => {
    e.preventDefault();
    if (e.currentTarget instanceof HTMLFormElement) {
      const form = e.currentTarget;
      void run(() => onSubmit(form));
    }
  };
  const outside = (e: MouseEvent): void => {
    if (e.target === dialog.current) onClose();
  };
  return (
    <dialog ref={dialog} class="card modal" aria-labelledby="modal-title" onClose={onClose} onMouseDown={outside}>
      <form onSubmit={submitted}>
        <h2 id="modal-title">{title}</h2>
        {children}
        <Failure text={error} />
        <div class="modal-actions">
          <Button text={cancel} autofocus={danger} onClick={onClose} />
          <button type="submit" class={danger ? "danger" : "primary"} disabled={busy}>
            {busy ? submitting : submit}
          </button>
        </div>
      </form>
    </dialog>
  );
}
