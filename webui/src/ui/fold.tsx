import { useMemo, useState } from "preact/hooks";
import type { List, Text } from "../conversation/documents";
import { counted, folded, readable } from "../conversation/text";

/** Fold is a text of several lines, of which a long one shows its beginning until somebody wants more. */
export function Fold({ text, code }: { text: Text; code?: boolean }) {
  const [open, setOpen] = useState(false);
  const { whole, short } = useMemo(() => {
    const shown = readable(text.text);
    return { whole: shown, short: folded(shown) };
  }, [text]);
  return (
    <div class="fold">
      <p class={code ? "fold-text code" : "fold-text"} dir="auto">
        {open || short === null ? whole : `${short}…`}
      </p>
      {open && text.left > 0 && <p class="status-hint">{counted(text.left, "more character is", "more characters are")} not shown here.</p>}
      {short !== null && (
        <button type="button" class="fold-action" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Show less" : `Show all ${counted(text.text.length + text.left, "character")}`}
        </button>
      )}
    </div>
  );
}

/** More says how much of a list is not shown. */
export function More({ list }: { list: List<unknown> }) {
  return list.left > 0 ? <p class="status-hint">and {list.left.toLocaleString()} more</p> : null;
}

/** Words is a list of short texts. */
export function Words({ name, list }: { name?: string; list: List<string> }) {
  if (list.items.length === 0) return null;
  return (
    <div class="words">
      {name !== undefined && <h4>{name}</h4>}
      <ul>
        {list.items.map((s, i) => (
          <li key={i}>
            <bdi>{readable(s)}</bdi>
          </li>
        ))}
      </ul>
      <More list={list} />
    </div>
  );
}
