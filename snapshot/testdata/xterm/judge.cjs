// Feeds text to a real xterm.js and tells what it is then. One job per line on
// stdin: {cols, rows, scrollback, reuse, writes: [base64, …]}; one answer per
// line on stdout: {states: [state after each write, …]}. With reuse the terminal
// of the job before is resized and reset() as a viewer does it, not made anew.
'use strict';
const { Terminal } = require('@xterm/headless');
const { Unicode11Addon } = require('@xterm/addon-unicode11');

const events = { data: [], bells: 0, colors: [] };
let term;

function make(job) {
  if (job.reuse && term) {
    term.resize(job.cols, job.rows);
    term.reset();
  } else {
    if (term) term.dispose();
    term = new Terminal({ cols: job.cols, rows: job.rows, scrollback: job.scrollback, allowProposedApi: true, logLevel: 'off' });
    term.loadAddon(new Unicode11Addon());
    term.unicode.activeVersion = '11';
    term.onData(d => events.data.push(d));
    term.onBinary(d => events.data.push(d));
    term.onBell(() => events.bells++);
    term._core._inputHandler.onColor(e => events.colors.push(...e));
  }
  events.data = []; events.bells = 0; events.colors = [];
}

const color = (mode, value) => mode === 0 ? '' : mode === 0x3000000 ? '#' + (value & 0xffffff).toString(16).padStart(6, '0') : String(value & 0xff);

// style joins a style into one string; of a saved pen xterm.js keeps only whether it is underlined.
function style(a, link) {
  const s = { fg: color(a.getFgColorMode(), a.getFgColor()), bg: color(a.getBgColorMode(), a.getBgColor()), attr: '' };
  for (const [flag, on] of [['b', a.isBold()], ['d', a.isDim()], ['i', a.isItalic()], ['k', a.isBlink()], ['r', a.isInverse()], ['v', a.isInvisible()], ['s', a.isStrikethrough()], ['o', a.isOverline()], ['p', a.isProtected()]]) if (on) s.attr += flag;
  const e = a.extended, has = link && a.hasExtendedAttrs() && e;
  s.ul = has ? (e._ext >> 26) & 7 : a.fg & 0x10000000 ? 1 : 0;
  const uc = has ? e._ext & 0x3ffffff : 0;
  s.uc = a.isUnderline() ? color(uc & 0x3000000, uc) : '';
  const l = has && e.urlId ? term._core._oscLinkService.getLinkData(e.urlId) : undefined;
  s.id = l && l.id || ''; s.uri = l ? l.uri : '';
  const key = [s.fg, s.bg, s.attr, s.ul, s.uc, s.id, s.uri].join('\t');
  return key === '\t\t\t0\t\t\t' ? '' : key;
}

let cell;
function line(l, cols) {
  const cells = [];
  cell = cell || term.buffer.active.getNullCell();
  for (let x = 0; x < cols; x++) {
    l.loadCell(x, cell);
    cells.push([cell.getChars(), cell.getWidth(), style(cell, true)]);
  }
  while (cells.length && cells[cells.length - 1][0] === '' && cells[cells.length - 1][1] === 1 && cells[cells.length - 1][2] === '') cells.pop();
  return { wrapped: l.isWrapped, cells };
}

// finals names the character sets by their final bytes.
let finals;
function finalOf(table) {
  if (!table) return 'B';
  if (!finals) {
    const t = new Terminal({ cols: 2, rows: 1, allowProposedApi: true, logLevel: 'off' });
    finals = [...'0A4C5RQKYE6ZH7='].map(f => { t._core._inputHandler.parse('\x1b(' + f); return [f, t._core._charsetService._charsets[0]]; });
    t.dispose();
  }
  const e = finals.find(e => e[1] === table);
  return e ? e[0] : '?';
}

function buffer(b) {
  const lines = [];
  for (let i = 0; i < b.lines.length; i++) lines.push(line(b.lines.get(i), term.cols));
  const tabs = [];
  for (let i = 1; i < term.cols; i++) if (b.tabs[i]) tabs.push(i);
  return {
    lines, tabs, x: b.x, y: b.y, base: b.ybase, top: b.scrollTop, bottom: b.scrollBottom,
    saved: { x: Math.min(b.savedX, term.cols - 1), y: Math.max(b.savedY - b.ybase, 0), pen: style(b.savedCurAttrData, false), charset: finalOf(b.savedCharset) },
  };
}

// hasParams tells whether a parser state has looked at parameters: CSI and DCS.
const hasParams = s => s >= 3 && s <= 5 || s >= 9;

function state() {
  const core = term._core, ih = core._inputHandler, cs = core.coreService, m = cs.decPrivateModes, mouse = core.coreMouseService, sets = core._charsetService;
  const alt = term.buffer.active.type === 'alternate', bufs = core._bufferService.buffers;
  return {
    cols: term.cols, rows: term.rows, alt, main: buffer(bufs.normal), other: alt ? buffer(bufs.alt) : null,
    modes: {
      appCursor: m.applicationCursorKeys, appKeypad: m.applicationKeypad, origin: m.origin, autowrap: m.wraparound, reverseWrap: m.reverseWraparound,
      paste: m.bracketedPasteMode, focus: m.sendFocus, sync: m.synchronizedOutput, insert: cs.modes.insertMode, linefeed: !!term.options.convertEol,
      hidden: cs.isCursorHidden, mouse: mouse.activeProtocol, encoding: mouse.activeEncoding, cursorStyle: m.cursorStyle || '', cursorBlink: !!m.cursorBlink,
    },
    pen: style(ih._curAttrData, true), charsets: [0, 1, 2, 3].map(i => finalOf(sets._charsets[i])).join(''), gl: sets.glevel, charset: finalOf(sets.charset),
    title: ih._windowTitle, icon: ih._iconName, repeats: !!ih._parser.precedingJoinState,
    parser: ih._parser.currentState + ':' + (hasParams(ih._parser.currentState) ? ih._parser._params.toArray().join() : ''),
    data: [...events.data], bells: events.bells, colors: events.colors.map(e => e.type + ':' + (e.index ?? '') + ':' + (e.color || '')),
  };
}

(async () => {
  for await (const text of require('readline').createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const job = JSON.parse(text), states = [];
    make(job);
    for (const w of job.writes) {
      term._core.writeSync(Buffer.from(w, 'base64'));
      states.push(state());
    }
    process.stdout.write(JSON.stringify({ states }) + '\n');
  }
})();
