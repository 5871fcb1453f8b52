import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  onClose(): void;
  onSubmit(): void;
  children: ComponentChildren;
}

/** Modal is a form in the browser's own modal dialog, which keeps the focus inside and closes on Escape. */
export function Modal({ title, onClose, onSubmit, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (e: Event): void => {
    e.preventDefault();
    onSubmit();
  };
  const outside = (e: MouseEvent): void => {
    if (e.target === dialog.current) onClose();
  };
  return (
    <dialog ref={dialog} class="modal" aria-labelledby="modal-title" onClose={onClose} onMouseDown={outside}>
      <form onSubmit={submit}>
        <h2 id="modal-title">{title}</h2>
        {children}
      </form>
    </dialog>
  );
}
