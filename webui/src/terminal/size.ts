import type { Settings } from "../browser";

/**
 * SizeMode is what the page does about a terminal whose size is not the window's: `fit` asks the server for the
 * window's, `pan` scrolls, `scale` makes the letters smaller until all is in view.
 */
export type SizeMode = "fit" | "pan" | "scale";

/** The modes in the order of the choice. */
export const sizeModes: readonly SizeMode[] = ["fit", "pan", "scale"];

const KEY = "evertty-size";

/** keptMode is what the user has chosen in this browser. */
export function keptMode(settings: Pick<Settings, "get">): SizeMode {
  const kept = settings.get(KEY);
  return sizeModes.find((m) => m === kept) ?? "fit";
}

export function keepMode(settings: Pick<Settings, "set">, mode: SizeMode): void {
  settings.set(KEY, mode);
}

/** allowed is what of a mode is left where the server takes no size of this page. */
export const allowed = (mode: SizeMode, mayResize: boolean): SizeMode => (mode === "fit" && !mayResize ? "pan" : mode);

/** Letters are never smaller, in CSS pixels. */
export const MIN_FONT = 4;
/** Sizes of letters differ by this much, in CSS pixels: less is not seen. */
const STEP = 0.25;

/** largestFont is the largest size of letters up to `usual` that `fits`, or MIN_FONT where none does. */
export function largestFont(usual: number, fits: (font: number) => boolean): number {
  if (fits(usual)) return usual;
  let [low, high] = [0, Math.ceil((usual - MIN_FONT) / STEP) - 1]; // steps above MIN_FONT
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(MIN_FONT + middle * STEP)) low = middle;
    else high = middle - 1;
  }
  return MIN_FONT + low * STEP;
}
