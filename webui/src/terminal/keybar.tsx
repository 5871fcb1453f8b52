import { hasEnded } from "../list/model";
import { sendKey } from "../page";
import { activeId, activeInfo, sticky } from "../store";
import type { Sticky } from "./keys";

/** The keys a phone's keyboard does not have: the server's name, what is written on it, what it is called. */
const keys = [
  ["Escape", "Esc", "Escape"],
  ["Tab", "Tab", "Tab"],
] as const;
const arrows = [
  ["Left", "←", "Left"],
  ["Down", "↓", "Down"],
  ["Up", "↑", "Up"],
  ["Right", "→", "Right"],
] as const;

/** Pressing a key of the bar must not take the focus, or the phone would put its keyboard away. */
const keepFocus = (e: Event): void => e.preventDefault();

function Key({ name, text, label }: { name: string; text: string; label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      onPointerDown={keepFocus}
      onMouseDown={keepFocus}
      onClick={() => sendKey(name)}
    >
      {text}
    </button>
  );
}

function Hold({ modifier, text }: { modifier: keyof Sticky; text: string }) {
  const held = sticky.value[modifier];
  const toggle = (): void => {
    sticky.value = { ...sticky.value, [modifier]: !held };
  };
  return (
    <button
      type="button"
      class={held ? "held" : ""}
      aria-pressed={held}
      aria-label={`${text}, holds for the next key`}
      onPointerDown={keepFocus}
      onMouseDown={keepFocus}
      onClick={toggle}
    >
      {text}
    </button>
  );
}

/**
 * KeyBar is shown on touch screens only (style). Its keys go out as names, so that the server applies the program's
 * key modes.
 */
export function KeyBar() {
  if (activeId.value === null || hasEnded(activeInfo.value?.state ?? "running")) return null;
  return (
    <div class="keybar" role="toolbar" aria-label="Keys">
      {keys.map(([name, text, label]) => (
        <Key key={name} name={name} text={text} label={label} />
      ))}
      <Hold modifier="ctrl" text="Ctrl" />
      <Hold modifier="alt" text="Alt" />
      {arrows.map(([name, text, label]) => (
        <Key key={name} name={name} text={text} label={label} />
      ))}
    </div>
  );
}
