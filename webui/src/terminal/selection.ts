import type { IBuffer, Terminal } from "@xterm/xterm";

/**
 * Range is a part of a terminal's buffer, from one cell to just before another. Cells are counted from the first of the
 * oldest row on, row by row.
 */
export interface Range {
  from: number;
  to: number;
}

/** Cells searched for the ends of a word in each direction: a wrapped line may have millions. */
const MAX_WORD = 4096;

/** wordAt is the word around a cell, also across the rows of a wrapped line; a separator or blank is alone. */
export function wordAt(buffer: IBuffer, cols: number, separators: string, cell: number): Range {
  const parts = (at: number): boolean => {
    const c = buffer.getLine(Math.floor(at / cols))?.getCell(at % cols);
    const chars = c?.getChars() ?? "";
    return c?.getWidth() !== 0 && (chars === "" || separators.includes(chars)); // width 0: behind a wide character
  };
  const joined = (at: number): boolean => at % cols !== 0 || buffer.getLine(at / cols)?.isWrapped === true;
  let [from, to] = [cell, cell + 1];
  if (parts(cell)) return { from, to };
  while (cell - from < MAX_WORD && from > 0 && joined(from) && !parts(from - 1)) from--;
  while (to - cell < MAX_WORD && to < buffer.length * cols && joined(to) && !parts(to)) to++;
  return { from, to };
}

/** spanning is the range of two, as it grows from `anchor` to where a finger is. */
export const spanning = (anchor: Range, cell: number): Range => ({
  from: Math.min(anchor.from, cell),
  to: Math.max(anchor.to, cell + 1),
});

/** moved is a range by so many cells further on. */
export const moved = ({ from, to }: Range, by: number): Range => ({ from: from + by, to: to + by });

/** whole extends a range over wide characters that it has one half of. */
export function whole({ cols, buffer }: Terminal, { from, to }: Range): Range {
  const within = (at: number): boolean =>
    buffer.active
      .getLine(Math.floor(at / cols))
      ?.getCell(at % cols)
      ?.getWidth() === 0;
  return { from: within(from) ? from - 1 : from, to: within(to) ? to + 1 : to };
}

/** select shows a range as selected; mouse reporting does not matter. */
export function select(term: Terminal, { from, to }: Range): void {
  term.select(from % term.cols, Math.floor(from / term.cols), to - from);
}

/** selected is the range that is selected, null for none. */
export function selected(term: Terminal): Range | null {
  const position = term.getSelectionPosition();
  if (!position) return null;
  const { start, end } = position;
  return { from: start.y * term.cols + start.x, to: end.y * term.cols + end.x };
}
