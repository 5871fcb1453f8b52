import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { restartTerminal } from "../api/requests";
import { useApp, useStore } from "../app";
import { watchSize } from "../browser";
import { exitText } from "../list/label";
import { hasBanner } from "../list/model";
import { Button } from "../ui/button";

/**
 * Banner says below the last screen that, and how, the terminal ended. It lies over the stage, whose size therefore
 * stays the same for every terminal: a banner that came and went would resize running programs.
 */
export function Banner() {
  const { activeId, activeInfo, closing, creating, guest, model, toastError } = useStore();
  const { pool } = useApp();
  const info = activeInfo.value;
  const { listed, refused } = model.value;
  if (activeId.value === null || !listed || refused.has(activeId.value)) return null;
  if (!info)
    return (
      <Bar bad>
        <span class="banner-text">This terminal was closed.</span>
        <a class="button" href="#/">
          Dismiss
        </a>
      </Bar>
    );
  if (model.value.watched.get(info.id)?.removed)
    return (
      <Bar bad>
        <span class="banner-text">Somebody has removed you from this terminal.</span>
        {!guest && <Button text="Watch again" onClick={() => pool.watchAgain(info.id)} />}
      </Bar>
    );
  if (!hasBanner(info.state)) return null;
  const well = info.state === "exited" && info.exit?.code === 0;
  return (
    <Bar bad={!well}>
      <span class="banner-text">{exitText(info.state, info.exit)}</span>
      {!guest && (
        <>
          <Button text="Restart" onClick={() => void restartTerminal(info).catch(toastError)} />
          <Button text="Remove" onClick={() => (closing.value = info)} />
          <Button text="New terminal" onClick={() => (creating.value = true)} />
        </>
      )}
    </Bar>
  );
}

/** Bar tells the style how high it is, which makes room for it: on a phone its text needs several lines. */
function Bar({ bad, children }: { bad: boolean; children: ComponentChildren }) {
  const bar = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = bar;
    if (current === null) return;
    const measure = (): void =>
      document.documentElement.style.setProperty("--banner-height", `${current.offsetHeight}px`);
    measure();
    watchSize(current, measure);
  }, []);
  return (
    <div ref={bar} class={bad ? "banner bad" : "banner"} role="status">
      {children}
    </div>
  );
}
