import { WebglAddon } from "@xterm/addon-webgl";
import type { IDisposable, Terminal } from "@xterm/xterm";
import { settings, widthsOf } from "../browser";
import { Choice } from "./renderer";

/** Names of renderers that calculate every pixel on the processor. */
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** isSoftware says whether a renderer of this name needs no hardware, and so is slower than the page's elements. */
export const isSoftware = (name: string): boolean => SOFTWARE.test(name);

/**
 * isSharp says whether a canvas has as many device pixels as it covers. Where the ratio is emulated, as in developer
 * tools, browsers report device pixels of the real screen, and the terminal would be cropped or blurred.
 */
export const isSharp = (device: number, css: number, ratio: number): boolean => Math.abs(device - css * ratio) <= 2;

/** accelerated says whether this browser draws WebGL with hardware. */
function accelerated(): boolean {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (gl === null) return false;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name: unknown = gl.getParameter(info === null ? gl.RENDERER : info.UNMASKED_RENDERER_WEBGL);
  gl.getExtension("WEBGL_lose_context")?.loseContext(); // browsers allow about 16 contexts a page
  return !isSoftware(String(name));
}

/** emulated says whether the page's device pixels differ from the browser's, as in developer tools. */
async function emulated(element: Element): Promise<boolean> {
  const widths = await widthsOf(element);
  return widths !== null && !isSharp(widths.device, widths.css, window.devicePixelRatio);
}

/**
 * accelerate draws `term`, which is in the page, with WebGL, or returns null where the browser cannot: then xterm.js
 * goes on with its DOM renderer. Dispose the result when the terminal is hidden, to give the context back. `lost` is
 * called when the DOM renderer had to take over later: the browser took the context away, or what WebGL draws is not
 * what the page shows. The two renderers round the cell's width differently, so the size must be measured afterwards.
 */
export function accelerate(term: Terminal, lost: () => void): IDisposable | null {
  const webgl = new WebglAddon();
  let active = true;
  const stop = (): void => {
    active = false;
    webgl.dispose();
  };
  webgl.onContextLoss(() => {
    stop();
    lost();
  });
  try {
    term.loadAddon(webgl);
  } catch {
    stop();
    return null;
  }
  const screen = term.element?.querySelector(".xterm-screen");
  if (screen)
    void emulated(screen).then((wrong) => {
      if (!wrong || !active) return;
      stop();
      lost();
    });
  return { dispose: stop };
}

/** The setting that fixes the renderer: "webgl" or "dom". */
const RENDERER_KEY = "evertty.renderer";

/** chooseRenderer begins the choice of a page. Asking the browser takes some milliseconds. */
export function chooseRenderer(): Choice {
  const fixed = settings.get(RENDERER_KEY);
  if (fixed === "webgl" || fixed === "dom") return new Choice(fixed, true);
  return accelerated() ? new Choice("webgl") : new Choice("dom", true);
}
