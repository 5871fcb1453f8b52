import type { ITheme } from "@xterm/xterm";
import type { CommandColors } from "../api/wire.gen";
import { mediaMatches } from "../browser";

/** The terminal stays dark in both themes of the page: programs choose their colours for a dark screen. */
export const theme = {
  background: "#0f1318",
  foreground: "#d7dde6",
  cursor: "#46c796",
  cursorAccent: "#0f1318",
  selectionBackground: "#2f5d8a99",
  selectionInactiveBackground: "#3a455299",
  black: "#1b222b",
  red: "#f07178",
  green: "#7fd88f",
  yellow: "#e8c56a",
  blue: "#6cb2f0",
  magenta: "#c79bf0",
  cyan: "#5fd0cf",
  white: "#c8d0da",
  brightBlack: "#6b7684",
  brightRed: "#ff8f94",
  brightGreen: "#9ce8aa",
  brightYellow: "#f5d98b",
  brightBlue: "#8fc8fb",
  brightMagenta: "#dab6fb",
  brightCyan: "#84e3e1",
  brightWhite: "#f4f7fa",
} satisfies ITheme;

/** The first 16 colours of the palette, in their order (OSC 4, xterm ctlseqs). */
const PALETTE = [
  ...(["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const),
  ...(["brightBlack", "brightRed", "brightGreen", "brightYellow"] as const),
  ...(["brightBlue", "brightMagenta", "brightCyan", "brightWhite"] as const),
];

/** colors are the colours this page draws with. The server answers the queries of programs with them. */
export const colors: Omit<CommandColors, "type" | "pty"> = {
  foreground: theme.foreground,
  background: theme.background,
  cursor: theme.cursor,
  palette: PALETTE.map((name) => theme[name]),
};

export const fontFamily =
  'ui-monospace, "JetBrains Mono", "SF Mono", Menlo, "Cascadia Mono", Consolas, ' +
  '"DejaVu Sans Mono", "Liberation Mono", monospace';

/** Sizes in CSS pixels: a narrow page gets smaller letters, so that about 50 columns fit on a phone. */
export const fontSize = (): number => (mediaMatches("(max-width: 700px)") ? 12 : 14);
