import { useEffect, useRef, useState } from "preact/hooks";
import { useApp, useStore } from "../app";
import { IconButton } from "../ui/button";
import type { Pool } from "./pool";

/** Colours of the matches; xterm.js takes only #RRGGBB here. */
const decorations = {
  matchBackground: "#4a4320",
  matchOverviewRuler: "#e8c56a",
  activeMatchBackground: "#8a6d1c",
  activeMatchBorder: "#ffd866",
  activeMatchColorOverviewRuler: "#ffd866",
};

/** find shows the next match, upwards towards older output when `back`. */
function find(pool: Pool, text: string, back: boolean): void {
  const search = pool.current()?.search;
  if (!search || text === "") return;
  if (back) search.findPrevious(text, { decorations });
  else search.findNext(text, { decorations });
}

/** SearchBox looks through the active terminal and its history; Enter goes up, towards older output. */
export function SearchBox() {
  const { searching } = useStore();
  const { pool } = useApp();
  const [term, setTerm] = useState("");
  const [results, setResults] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const search = pool.current()?.search;
    let none = false;
    const found = search?.onDidChangeResults(({ resultIndex: i, resultCount: n }) => {
      setResults(n === 0 ? "none" : i < 0 ? `${n}` : `${i + 1}/${n}`);
      const came = none && n > 0; // with the history, which is asked for when the search begins
      none = n === 0;
      if (came) find(pool, input.current?.value ?? "", true);
    });
    input.current?.focus();
    return () => {
      found?.dispose();
      search?.clearDecorations();
    };
  }, []);
  const close = (): void => {
    pool.current()?.term.focus();
    searching.value = false;
  };
  const onKey = (e: KeyboardEvent): void => {
    if (e.key === "Escape") close();
    else if (e.key === "Enter") find(pool, term, !e.shiftKey);
    else return;
    e.preventDefault();
  };
  const onInput = (e: Event & { currentTarget: HTMLInputElement }): void => {
    setTerm(e.currentTarget.value);
    // From the end: the newest output is what people look for.
    pool.current()?.search.clearDecorations();
    find(pool, e.currentTarget.value, true);
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
      <IconButton icon="up" label="Previous match" title="Previous (Enter)" onClick={() => find(pool, term, true)} />
      <IconButton icon="down" label="Next match" title="Next (Shift+Enter)" onClick={() => find(pool, term, false)} />
      <IconButton icon="close" label="Close search" title="Close (Esc)" onClick={close} />
    </div>
  );
}
