import type { IDisposable, IParser } from "@xterm/xterm";

/**
 * The server's emulator answers every terminal query exactly once. A viewer that answered too would type its answer
 * into the program, so this page's xterm.js must stay silent: pure queries are swallowed before xterm.js sees them.
 */

interface Muted extends IDisposable {
  /** True while a sequence is parsed that both changes state and makes xterm.js answer: drop what it emits. */
  active(): boolean;
}

/** Ps of CSI Ps t (XTWINOPS, xterm ctlseqs) that ask for a report. */
const WINDOW_REPORTS = new Set([11, 13, 14, 15, 16, 18, 19, 20, 21]);

/** DECSET 1004 (focus events) makes xterm.js report the focus at once; only later changes are the user's. */
const FOCUS_EVENTS = 1004;

/**
 * mute registers the handlers on a terminal's parser and returns what it knows and a disposable for all of them.
 * A handler that returns true ends the sequence; false passes it on to xterm.js.
 */
export function mute(parser: IParser): Muted {
  let active = false;
  // Parsing is synchronous, so a microtask runs after it and before any key or mouse event.
  const muteThisParse = (): boolean => {
    active = true;
    queueMicrotask(() => (active = false));
    return false;
  };
  const swallow = (): boolean => true;
  const swallowReports = (params: (number | number[])[]): boolean => WINDOW_REPORTS.has(Number(params[0]));
  const colour = (data: string): boolean =>
    /^[0-9;?]*$/.test(data) ? data.includes("?") : data.includes("?") && muteThisParse();

  const handlers = [
    parser.registerCsiHandler({ final: "c" }, swallow), // DA1
    parser.registerCsiHandler({ prefix: ">", final: "c" }, swallow), // DA2
    parser.registerCsiHandler({ prefix: "=", final: "c" }, swallow), // DA3
    parser.registerEscHandler({ final: "Z" }, swallow), // DECID
    parser.registerCsiHandler({ final: "n" }, swallow), // DSR, CPR
    parser.registerCsiHandler({ prefix: "?", final: "n" }, swallow), // DECXCPR and DEC DSR
    parser.registerCsiHandler({ intermediates: "$", final: "p" }, swallow), // DECRQM, ANSI modes
    parser.registerCsiHandler({ prefix: "?", intermediates: "$", final: "p" }, swallow), // DECRQM, DEC modes
    parser.registerCsiHandler({ prefix: ">", final: "q" }, swallow), // XTVERSION
    parser.registerCsiHandler({ prefix: "?", final: "u" }, swallow), // kitty keyboard flags
    parser.registerCsiHandler({ final: "t" }, swallowReports), // XTWINOPS reports
    parser.registerDcsHandler({ intermediates: "$", final: "q" }, swallow), // DECRQSS
    parser.registerDcsHandler({ intermediates: "+", final: "q" }, swallow), // XTGETTCAP
    parser.registerCsiHandler(
      { prefix: "?", final: "h" },
      (params) => params.includes(FOCUS_EVENTS) && muteThisParse(),
    ),
    ...[4, 10, 11, 12].map((osc) => parser.registerOscHandler(osc, colour)),
  ];
  const dispose = (): void => {
    for (const h of handlers) h.dispose();
  };
  return { active: () => active, dispose };
}
