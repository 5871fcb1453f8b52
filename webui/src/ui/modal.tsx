import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Action, Failure } from "./action";

interface Props {
  title: string;
  /** Runs onSubmit; the dialog stays, with the reason, when the server refuses. */
  action: Action;
  submit: string;
  /** Submitting ends something, so that the first focus is on Cancel. */
  danger?: boolean;
  onClose(): void;
  onSubmit(): Promise<void>;
  children: ComponentChildren;
}

/** Modal is a form in the browser's own modal dialog, which keeps the focus inside and closes on Escape. */
export function Modal({ title, action, submit, danger = false, onClose, onSubmit, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus(); // the browser does so only when it closes the dialog itself
    };
  }, []);
  const submitted = (e: Event): void => {
    e.preventDefault();
    void action.run(onSubmit);
  };
  const outside = (e: MouseEvent): void => {
    if (e.target === dialog.current) onClose();
  };
  return (
    <dialog ref={dialog} class="card modal" aria-labelledby="modal-title" onClose={onClose} onMouseDown={outside}>
      <form onSubmit={submitted}>
        <h2 id="modal-title">{title}</h2>
        {children}
        <Failure text={action.error} />
        <div class="modal-actions">
          <button type="button" autofocus={danger} onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={danger ? "danger" : "primary"} disabled={action.busy}>
            {submit}
          </button>
        </div>
      </form>
    </dialog>
  );
}
