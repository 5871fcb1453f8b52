import { useMemo, useState } from "preact/hooks";
import { Button } from "./button";
import { begin, counted, firstItems, folded, readable, type Text } from "./text";

/** Fold shows a text of several lines; of a long one only the beginning, until the user unfolds it. */
export function Fold({ text: given, code }: { text: Text | string | undefined; code?: boolean }) {
  const text = typeof given === "object" ? given : begin(given);
  const [open, setOpen] = useState(false);
  const { whole, short } = useMemo(() => {
    const shown = readable(text.text);
    return { whole: shown, short: folded(shown) };
  }, [text.text]);
  if (text.text === "") return null;
  return (
    <div class="fold">
      <p class={code ? "fold-text code" : "fold-text"} dir="auto">
        {open || short === null ? whole : `${short}…`}
      </p>
      {open && text.left > 0 && (
        <p class="hint">{counted(text.left, "more character is", "more characters are")} not shown here.</p>
      )}
      {short !== null && (
        <Button
          text={open ? "Show less" : `Show all ${counted(text.text.length + text.left, "character")}`}
          class="fold-action"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        />
      )}
    </div>
  );
}

/** More says how much of a list is not shown. */
export function More({ left }: { left: number }) {
  return left > 0 ? <p class="hint">and {left.toLocaleString()} more</p> : null;
}

/** Words is a list of short texts. */
export function Words({ name, list = [] }: { name: string; list: readonly string[] | undefined }) {
  const { items, left } = firstItems(list.filter((s) => s !== ""));
  if (items.length === 0) return null;
  return (
    <div class="words">
      <h4>{name}</h4>
      <ul>
        {items.map((s, i) => (
          <li key={i}>
            <bdi>{readable(begin(s).text)}</bdi>
          </li>
        ))}
      </ul>
      <More left={left} />
    </div>
  );
}

/** Tag is a word in a frame; a `kind` of the style sheet gives it a colour. */
export function Tag({ text, kind = "" }: { text: string; kind?: string | undefined }) {
  return (
    <span class={`tag ${kind}`}>
      <bdi>{text}</bdi>
    </span>
  );
}
