import { useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../app";
import { searching } from "../store";
import { IconButton } from "../ui/button";
import type { Pool } from "./pool";
import type { Screen } from "./screen";

/** Colours of the matches; xterm.js takes only #RRGGBB here. */
const decorations = {
  matchBackground: "#4a4320",
  matchOverviewRuler: "#e8c56a",
  activeMatchBackground: "#8a6d1c",
  activeMatchBorder: "#ffd866",
  activeMatchColorOverviewRuler: "#ffd866",
};

/** find shows the next match, upwards towards older output when `back`. */
function find(screen: Screen | null, term: string, back: boolean): void {
  const search = screen?.search;
  if (!search || term === "") return;
  if (back) search.findPrevious(term, { decorations });
  else search.findNext(term, { decorations });
}

function useResults(pool: Pool): string {
  const [results, setResults] = useState("");
  useEffect(() => {
    const listener = pool.current()?.search.onDidChangeResults(({ resultIndex, resultCount }) => {
      setResults(resultCount === 0 ? "none" : resultIndex < 0 ? `${resultCount}` : `${resultIndex + 1}/${resultCount}`);
    });
    return () => listener?.dispose();
  }, []);
  return results;
}

/** SearchBox looks through the active terminal and its history; Enter goes up, towards older output. */
export function SearchBox() {
  const { pool } = useApp();
  const [term, setTerm] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const results = useResults(pool);
  useEffect(() => {
    const searched = pool.current();
    input.current?.focus();
    return () => searched?.search.clearDecorations();
  }, []);
  const close = (): void => {
    pool.current()?.focus();
    searching.value = false;
  };
  const onKey = (e: KeyboardEvent): void => {
    if (e.key === "Escape") close();
    else if (e.key === "Enter") find(pool.current(), term, !e.shiftKey);
    else return;
    e.preventDefault();
  };
  const onInput = (e: Event & { currentTarget: HTMLInputElement }): void => {
    setTerm(e.currentTarget.value);
    // From the end: the newest output is what people look for.
    pool.current()?.search.clearDecorations();
    find(pool.current(), e.currentTarget.value, true);
  };
  return (
    <div class="card search" role="search">
      <input
        ref={input}
        type="text"
        value={term}
        placeholder="Search"
        aria-label="Search the terminal"
        spellcheck={false}
        autocomplete="off"
        onInput={onInput}
        onKeyDown={onKey}
      />
      <span class="hint search-results" role="status">
        {term === "" ? "" : results}
      </span>
      <IconButton
        icon="up"
        label="Previous match"
        title="Previous (Enter)"
        onClick={() => find(pool.current(), term, true)}
      />
      <IconButton
        icon="down"
        label="Next match"
        title="Next (Shift+Enter)"
        onClick={() => find(pool.current(), term, false)}
      />
      <IconButton icon="close" label="Close search" title="Close (Esc)" onClick={close} />
    </div>
  );
}
