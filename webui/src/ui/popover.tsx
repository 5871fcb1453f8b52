import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useStore } from "../app";

interface Props {
  /** Names it among those of the page, of which one is open. */
  id: string;
  label: string;
  title: string;
  /** What the button is called where its face does not say it. */
  name?: string;
  /** Of the button. */
  class: string;
  /** What is on the button. */
  face: ComponentChildren;
  children: ComponentChildren;
}

/** Popover is a button of the header that opens a card over the stage. Escape closes it. */
export function Popover({ id, label, title, name, class: more, face, children }: Props) {
  const { popover } = useStore();
  const button = useRef<HTMLButtonElement>(null);
  const open = popover.value === id;
  const onKey = (e: KeyboardEvent): void => {
    if (e.key !== "Escape" || !open) return;
    e.stopPropagation();
    popover.value = null;
    button.current?.focus();
  };
  return (
    <section class="popover" aria-label={label} onKeyDown={onKey}>
      <button
        ref={button}
        type="button"
        class={`popover-button ${more}`}
        aria-expanded={open}
        aria-controls={id}
        aria-label={name}
        title={title}
        onClick={() => (popover.value = open ? null : id)}
      >
        {face}
      </button>
      {open && (
        <div class="card popover-body" id={id}>
          {children}
        </div>
      )}
    </section>
  );
}
