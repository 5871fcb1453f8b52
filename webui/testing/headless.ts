import headless from "@xterm/headless";
import type { Terminal } from "@xterm/xterm";

/**
 * headlessTerminal is a real xterm.js without a screen, for tests. Its parser, buffers and modes are the browser's
 * own, so the tests use the browser's type.
 */
export function headlessTerminal(cols = 80, rows = 24): Terminal {
  return new headless.Terminal({
    cols,
    rows,
    scrollback: 5000,
    allowProposedApi: true,
    logLevel: "off",
  }) as unknown as Terminal;
}

/** parsed resolves when everything written before was parsed. */
export function parsed(term: Terminal, data = ""): Promise<void> {
  return new Promise((resolve) => term.write(data, resolve));
}

/** screen is the visible screen, trailing blanks and blank rows trimmed. */
export function screen(term: Terminal): string {
  const buffer = term.buffer.active;
  const rows = Array.from(
    { length: term.rows },
    (_, y) => buffer.getLine(buffer.baseY + y)?.translateToString(true) ?? "",
  );
  return rows.join("\n").trimEnd();
}
