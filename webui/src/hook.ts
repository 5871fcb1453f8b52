import type { App } from "./app";

/** A read-only view of the page for tests in a real browser; no part of the page uses it. */
export interface Hook {
  /** The visible screen of the active terminal, rows joined by line feeds, trailing blanks trimmed. */
  text(): string;
  /** connecting, open, reconnecting or unauthorized. */
  state(): string;
  /** The active terminal, null when none is shown. */
  id(): string | null;
  /** The active terminal's size in cells, null when none is shown. */
  size(): { cols: number; rows: number } | null;
}

declare global {
  interface Window {
    readonly evertty: Hook;
  }
}

/** installHook puts the hook on window, where scripts can neither replace nor change it. */
export function installHook({ connection, pool }: App): void {
  const hook: Hook = {
    text: () => pool.current()?.text() ?? "",
    state: () => connection.status.value.state,
    id: () => pool.shown(),
    size: () => pool.current()?.size() ?? null,
  };
  Object.defineProperty(window, "evertty", { value: Object.freeze(hook) });
}
