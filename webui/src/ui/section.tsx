import type { ComponentChildren } from "preact";

interface Props {
  /** Unique in the page. */
  id: string;
  title: string;
  /** Beside the title. */
  aside?: ComponentChildren;
  children: ComponentChildren;
}

/** Section is a part of the panel with its title. */
export function Section({ id, title, aside, children }: Props) {
  return (
    <section class="status-section" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
