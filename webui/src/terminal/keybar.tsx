import type { ComponentProps } from "preact";
import { useApp, useStore } from "../app";
import { hasEnded } from "../list/model";
import { Button } from "../ui/button";
import type { Sticky } from "./keys";

/** The keys a phone's keyboard does not have, by the server's names. */
const keys = { Escape: "Esc", Tab: "Tab" };
const arrows = { Left: "←", Down: "↓", Up: "↑", Right: "→" };

const prevent = (e: Event): void => e.preventDefault();

/** Key must not take the focus when it is pressed, or the phone would put its keyboard away. */
const Key = (props: ComponentProps<typeof Button>) => (
  <Button {...props} onPointerDown={prevent} onMouseDown={prevent} />
);

function Hold({ modifier, text }: { modifier: keyof Sticky; text: string }) {
  const { sticky } = useStore();
  const held = sticky.value[modifier];
  const toggle = (): void => {
    sticky.value = { ...sticky.value, [modifier]: !held };
  };
  const label = `${text}, holds for the next key`;
  return <Key text={text} class={held ? "held" : ""} aria-pressed={held} aria-label={label} onClick={toggle} />;
}

function Keys({ of }: { of: Readonly<Record<string, string>> }) {
  const app = useApp();
  return Object.entries(of).map(([name, text]) => (
    <Key key={name} text={text} aria-label={name} onClick={() => app.sendKey(name)} />
  ));
}

/**
 * KeyBar is shown on touch screens only (style). Its keys go out as names, so that the server applies the program's
 * key modes. It is as high whatever it shows: another height would change the size of the terminal.
 */
export function KeyBar() {
  const { activeId, activeInfo, mayType, selected } = useStore();
  const app = useApp();
  if (activeId.value === null) return null;
  const ended = hasEnded(activeInfo.value?.state ?? "running") || !mayType.value; // or looked at only
  return (
    <div class="keybar" role="toolbar" aria-label="Keys">
      {!ended && (
        <>
          <Keys of={keys} />
          <Hold modifier="ctrl" text="Ctrl" />
          <Hold modifier="alt" text="Alt" />
          <Keys of={arrows} />
        </>
      )}
      <div class="keybar-pinned">
        {(selected.value || ended) && (
          <Key text="Copy" disabled={!selected.value} onClick={() => void app.copySelection()} />
        )}
        {!ended && <Key text="Paste" onClick={() => void app.pasteClipboard()} />}
      </div>
    </div>
  );
}
