/**
 * This file has all that a browser may lack or forbid: storage (site data blocked, or full), the clipboard (absent on
 * plain http, or not permitted), observers and media queries. No other file asks for them, and nothing here throws.
 */

/** Settings are kept by the browser; what it does not take lasts as long as the page. */
export class Settings {
  private readonly kept = new Map<string, string>();

  /** `storage` may throw, and so may what it returns. */
  constructor(private readonly storage: () => Pick<Storage, "getItem" | "setItem" | "removeItem">) {}

  get(key: string): string | null {
    try {
      return this.kept.get(key) ?? this.storage().getItem(key);
    } catch {
      return null;
    }
  }

  /** set returns false when the browser does not take it. */
  set(key: string, value: string): boolean {
    this.kept.set(key, value);
    try {
      const storage = this.storage();
      storage.removeItem(key); // a storage that is full must not keep an older value
      storage.setItem(key, value);
      this.kept.delete(key);
      return true;
    } catch {
      return false;
    }
  }
}

export const settings = new Settings(() => window.localStorage);

const tab = new Settings(() => window.sessionStorage);
const VIEWER_KEY = "evertty-viewer";

/** viewerKey is a secret of this tab, the same when it is loaded again: by it the server knows the viewer. */
export function viewerKey(): string {
  const kept = tab.get(VIEWER_KEY);
  if (kept !== null) return kept;
  const made = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  tab.set(VIEWER_KEY, made);
  return made;
}

/** writeClipboard reports whether the browser let it: browsers want it in the handler of a click or a key. */
export async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

/** copyByCommand copies without the clipboard API, which exists on https and loopback only. The focus stays. */
function copyByCommand(text: string): boolean {
  let copied = false;
  const copy = (e: ClipboardEvent): void => {
    e.preventDefault();
    e.stopImmediatePropagation();
    e.clipboardData?.setData("text/plain", text);
    copied = e.clipboardData !== null;
  };
  // Chromium and Safari copy only a selection, unless this event is prevented.
  const enable = (e: Event): void => e.preventDefault();
  document.addEventListener("copy", copy, true);
  document.addEventListener("beforecopy", enable, true);
  try {
    return document.execCommand("copy") && copied;
  } catch {
    return false;
  } finally {
    document.removeEventListener("copy", copy, true);
    document.removeEventListener("beforecopy", enable, true);
  }
}

/** readClipboard returns the text of the clipboard, null where the browser does not let the page read it. */
export async function readClipboard(): Promise<string | null> {
  try {
    return await navigator.clipboard.readText();
  } catch {
    return null;
  }
}

/** mediaMatches reports whether a media query holds now. */
export const mediaMatches = (query: string): boolean => window.matchMedia?.(query).matches ?? false;

/**
 * firstRoundTrip is how long the server took to answer with this page, in milliseconds; 0 where the browser does not
 * say, or has not asked the server.
 */
export function firstRoundTrip(): number {
  try {
    const [page] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
    return page && page.transferSize > 0 ? page.responseStart - page.requestStart : 0;
  } catch {
    return 0;
  }
}

/** visibleArea is the part of the page that an on-screen keyboard leaves visible; null where it is not known. */
export const visibleArea = (): VisualViewport | null => window.visualViewport ?? null;

/** watchSize calls `changed` whenever the element, or else the window, has another size. */
export function watchSize(element: Element, changed: () => void): void {
  if (typeof ResizeObserver === "undefined") window.addEventListener("resize", changed);
  else new ResizeObserver(changed).observe(element);
}

/** Widths of an element's content box. */
interface Widths {
  /** In pixels of the device. */
  device: number;
  /** In CSS pixels. */
  css: number;
}

/** widthsOf measures an element; null where the browser does not tell pixels of the device, as Safari. */
export function widthsOf(element: Element): Promise<Widths | null> {
  return new Promise((done) => {
    try {
      const observer = new ResizeObserver(([box]) => {
        observer.disconnect();
        const device = box?.devicePixelContentBoxSize?.[0]?.inlineSize;
        const css = box?.contentBoxSize[0]?.inlineSize;
        done(device === undefined || css === undefined ? null : { device, css });
      });
      observer.observe(element, { box: "device-pixel-content-box" });
    } catch {
      done(null);
    }
  });
}
