import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";

export interface Tab<T extends string> {
  id: T;
  label: string;
  /** How much waits there; 0 and absent say nothing. */
  waiting?: number;
}

interface TabsProps<T extends string> {
  /** Prefix of the ids of this row of tabs. */
  name: string;
  label: string;
  tabs: ReadonlyArray<Tab<T>>;
  chosen: T;
  choose(id: T): void;
}

const STEPS: Record<string, (i: number, n: number) => number> = {
  ArrowRight: (i, n) => (i + 1) % n,
  ArrowLeft: (i, n) => (i + n - 1) % n,
  Home: () => 0,
  End: (_i, n) => n - 1,
};

/** Tabs is a row of tabs as WAI-ARIA has them: Tab reaches one, the arrow keys choose the others at once. */
export function Tabs<T extends string>({ name, label, tabs, chosen, choose }: TabsProps<T>) {
  const row = useRef<HTMLDivElement>(null);
  const onKey = (e: KeyboardEvent): void => {
    const at = STEPS[e.key]?.(
      tabs.findIndex((t) => t.id === chosen),
      tabs.length,
    );
    const to = at === undefined ? undefined : tabs[at];
    if (to === undefined || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    choose(to.id);
    row.current?.querySelector<HTMLElement>(`#${name}-tab-${to.id}`)?.focus();
  };
  return (
    <div ref={row} class="tabs" role="tablist" aria-label={label} onKeyDown={onKey}>
      {tabs.map((t) => (
        <button
          key={t.id}
          type="button"
          role="tab"
          id={`${name}-tab-${t.id}`}
          aria-selected={t.id === chosen}
          aria-controls={`${name}-panel`}
          tabIndex={t.id === chosen ? 0 : -1}
          onClick={() => choose(t.id)}
        >
          {t.label}
          {t.waiting ? <span class="waiting">{t.waiting}</span> : null}
        </button>
      ))}
    </div>
  );
}

interface PanelProps {
  name: string;
  chosen: string;
  class: string;
  /** The element, for a caller that reads how far it is scrolled. */
  box?: RefObject<HTMLDivElement | null>;
  onScroll?(): void;
  children: ComponentChildren;
}

/** TabPanel is what the chosen tab shows. It scrolls, so that the keyboard has to reach it. */
export function TabPanel({ name, chosen, class: kind, box, onScroll, children }: PanelProps) {
  return (
    <div
      ref={box ?? null}
      class={kind}
      role="tabpanel"
      id={`${name}-panel`}
      aria-labelledby={`${name}-tab-${chosen}`}
      tabIndex={0}
      onScroll={onScroll}
    >
      {children}
    </div>
  );
}
