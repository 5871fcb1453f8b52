import { WebglAddon } from "@xterm/addon-webgl";
import type { IDisposable, Terminal } from "@xterm/xterm";

/** Set after the first failure: a browser without WebGL2 will not have it a second later. */
let unavailable = false;

/**
 * accelerate draws `term` with WebGL, or returns null where the browser cannot: then xterm.js goes on with its DOM
 * renderer. Dispose the result when the terminal is hidden, to give the context back (browsers allow about 16 per
 * page). `lost` is called after the browser took the context away; the DOM renderer is in place then. The two
 * renderers round the cell's width differently, so a wish must be measured after this call.
 */
export function accelerate(term: Terminal, lost: () => void): IDisposable | null {
  if (unavailable) return null;
  const webgl = new WebglAddon();
  webgl.onContextLoss(() => {
    webgl.dispose();
    lost();
  });
  try {
    term.loadAddon(webgl);
    return webgl;
  } catch {
    unavailable = true;
    webgl.dispose();
    return null;
  }
}
