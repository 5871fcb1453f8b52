import type { IDisposable, Terminal } from "@xterm/xterm";

/** Size of a cell in pixels as the server tells programs (XTWINOPS 14 and 16, xterm ctlseqs), whatever is drawn. */
const CELL = { width: 10, height: 20 };

interface Report {
  col: number;
  row: number;
  x: number;
  y: number;
}

/** The part of xterm.js that knows where the mouse is; it has no public name. */
interface Internals {
  _core?: { _mouseService?: { getMouseReportCoords(e: MouseEvent, screen: HTMLElement): Report | undefined } };
}

/** pixel is the 1-based pixel at `share` of a length of `cells` cells of `size` pixels. */
export const pixel = (share: number, cells: number, size: number): number =>
  Math.min(Math.max(Math.floor(share * cells * size), 0), cells * size - 1) + 1;

/**
 * serverPixels makes mouse reports in pixels (SGR-Pixels, mode 1016) count the pixels that the server told the program,
 * where xterm.js counts pixels of the page. Call it on a terminal that is open.
 */
export function serverPixels(term: Terminal): IDisposable {
  const mouse = (term as Internals)._core?._mouseService;
  if (mouse === undefined) return { dispose: () => {} };
  const original = mouse.getMouseReportCoords;
  mouse.getMouseReportCoords = (e, screen) => {
    const report = original.call(mouse, e, screen);
    const box = screen.getBoundingClientRect();
    return (
      report && {
        ...report,
        x: pixel((e.clientX - box.left) / box.width, term.cols, CELL.width),
        y: pixel((e.clientY - box.top) / box.height, term.rows, CELL.height),
      }
    );
  };
  return { dispose: () => (mouse.getMouseReportCoords = original) };
}
