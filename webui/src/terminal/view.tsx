import { useLayoutEffect, useRef } from "preact/hooks";
import { useApp, useStore } from "../app";

/**
 * TerminalView is the pool's place in the page; the screens inside belong to the pool, not to the framework. The
 * place is handed over within the first render, because start() shows the first terminal right after it.
 */
export function TerminalView() {
  const { letterboxed } = useStore();
  const { pool } = useApp();
  const area = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (area.current) pool.mount(area.current);
  }, []);
  return <div ref={area} class={letterboxed.value ? "area letterboxed" : "area"} />;
}
