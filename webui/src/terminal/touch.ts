import type { IDisposable, Terminal } from "@xterm/xterm";

/** A finger must move this far, in CSS pixels, before it scrolls: a tap opens the keyboard. */
const SLACK = 8;

/**
 * touchScroll lets one finger scroll the terminal's history, which xterm.js 6 leaves to the page. On the alternate
 * screen there is no history; there the drag becomes wheel events, which xterm.js turns into what the program expects.
 */
export function touchScroll(host: HTMLElement, term: Terminal): IDisposable {
  let lastY = 0;
  let scrolling = false;
  const cell = (): number => (host.querySelector(".xterm-screen")?.clientHeight ?? 0) / term.rows || 16;

  const start = (e: TouchEvent): void => {
    scrolling = false;
    lastY = e.touches[0]?.clientY ?? 0;
  };
  const move = (e: TouchEvent): void => {
    const touch = e.touches[0];
    if (!touch || e.touches.length > 1) return;
    const distance = lastY - touch.clientY;
    if (!scrolling && Math.abs(distance) < SLACK) return;
    scrolling = true;
    e.preventDefault();
    const lines = Math.trunc(distance / cell());
    if (lines === 0) return;
    lastY -= lines * cell();
    if (term.buffer.active.type === "normal") term.scrollLines(lines);
    else wheel(touch, lines);
  };
  const wheel = (at: Touch, lines: number): void => {
    const init = {
      deltaY: lines,
      deltaMode: WheelEvent.DOM_DELTA_LINE,
      clientX: at.clientX,
      clientY: at.clientY,
      bubbles: true,
      cancelable: true,
    };
    host.querySelector(".xterm-screen")?.dispatchEvent(new WheelEvent("wheel", init));
  };

  host.addEventListener("touchstart", start, { passive: true });
  host.addEventListener("touchmove", move, { passive: false });
  return {
    dispose: () => {
      host.removeEventListener("touchstart", start);
      host.removeEventListener("touchmove", move);
    },
  };
}
