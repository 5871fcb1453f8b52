import { visibleArea } from "./browser";

/**
 * followViewport keeps --app-height at the height that is really visible: on phones the on-screen keyboard covers
 * the page without changing its layout.
 */
export function followViewport(): void {
  const viewport = visibleArea();
  if (!viewport) return;
  const apply = (): void => {
    // A pinch zoom shrinks the visible part too, but must not shrink the terminal.
    if (viewport.scale > 1.01) return;
    document.documentElement.style.setProperty("--app-height", `${Math.round(viewport.height)}px`);
    window.scrollTo(0, 0);
  };
  viewport.addEventListener("resize", apply);
  apply();
}
