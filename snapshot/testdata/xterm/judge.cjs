// Feeds text to a real xterm.js and tells what it is then. One job per line on
// stdin: {cols, rows, scrollback, unicode, reuse, writes: [base64, …]}; one answer
// per line on stdout: {states: [state after each write, …]}. With reuse the terminal
// of the job before is resized and reset() as a viewer does it, not made anew.
// Instead of writes a job may have steps: [{write: base64, cols, rows, pending:
// base64, reset, skip}, …]. A step with cols resizes, with reset too it gives a viewer
// its new snapshot, else it writes. Its state comes with pendingParser,
// the parser of an xterm.js that got nothing but pending; skip leaves the state out.
// When xterm.js throws, the last state is {crash: what it said}.
// unicode is the width table, '11' or '15-graphemes'. A job with cuts is one for
// resume.cjs.
'use strict';
const { Terminal } = require('@xterm/headless');
const { Unicode11Addon } = require('@xterm/addon-unicode11');
const resume = require('./resume.cjs');
// In Node addon-unicode-graphemes 0.4.0 reads the header of its table from the
// start of Buffer's pool and then takes every emoji for narrow; a browser has no
// such pool, and neither must the judge.
const { poolSize } = Buffer;
Buffer.poolSize = 0;
const { UnicodeGraphemesAddon } = require('@xterm/addon-unicode-graphemes');
Buffer.poolSize = poolSize;

const events = { data: [], bells: 0, colors: [] };
let term;

function fresh(job, cols, rows) {
  const t = new Terminal({ cols, rows, scrollback: job.scrollback, allowProposedApi: true, logLevel: 'off' });
  t.loadAddon(job.unicode === '15-graphemes' ? new UnicodeGraphemesAddon() : new Unicode11Addon());
  t.unicode.activeVersion = job.unicode || '11';
  keepLinks(t._core._oscLinkService);
  return t;
}
resume.with({ make: fresh, finalOf, sequence: p => sequence(p) });

function make(job) {
  if (job.reuse && term) {
    term.resize(job.cols, job.rows);
    term.reset();
  } else {
    if (term) term.dispose();
    term = fresh(job, job.cols, job.rows);
    term.onData(d => events.data.push(d));
    term.onBinary(d => events.data.push(d));
    term.onBell(() => events.bells++);
    term._core._inputHandler.onColor(e => events.colors.push(...e));
  }
  events.data = []; events.bells = 0; events.colors = []; odd = '';
}

// keepLinks remembers every link, so that one that xterm.js has forgotten can be told from another. It forgets one when the
// lines it was opened and printed in are gone. Engines forget none: viewers get it again.
function keepLinks(service) {
  const kept = service.kept = new Map();
  const register = service.registerLink.bind(service);
  service.registerLink = data => {
    const id = register(data);
    kept.set(id, data);
    return id;
  };
}

const color = (mode, value) => mode === 0 ? '' : mode === 0x3000000 ? '#' + (value & 0xffffff).toString(16).padStart(6, '0') : String(value & 0xff);

// style joins a style into one string; of a saved pen xterm.js keeps only whether it is underlined.
function style(a, link) {
  const s = { fg: color(a.getFgColorMode(), a.getFgColor()), bg: color(a.getBgColorMode(), a.getBgColor()), attr: '' };
  for (const [flag, on] of [['b', a.isBold()], ['d', a.isDim()], ['i', a.isItalic()], ['k', a.isBlink()], ['r', a.isInverse()], ['v', a.isInvisible()], ['s', a.isStrikethrough()], ['o', a.isOverline()], ['p', a.isProtected()]]) if (on) s.attr += flag;
  const e = a.extended, has = link && a.hasExtendedAttrs() && e;
  s.ul = has && (e._ext >> 26) & 7 || (a.fg & 0x10000000 ? 1 : 0);
  const uc = has ? e._ext & 0x3ffffff : 0;
  s.uc = a.isUnderline() ? color(uc & 0x3000000, uc) : '';
  let l = has && e.urlId ? term._core._oscLinkService.kept.get(e.urlId) : undefined;
  if (l && /\x7f/.test(l.uri + l.id)) l = undefined; // no frame holds a control character,
  if (l && Buffer.byteLength(l.uri) > 2083) l = undefined; // and no engine an address that no browser takes
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
    saved: saved(b), wider: lines.length > 0 && [...Array(lines.length).keys()].some(i => b.lines.get(i).length > term.cols),
  };
}

function saved(b) {
  return { x: Math.min(b.savedX, term.cols - 1), y: Math.max(b.savedY - b.ybase, 0), pen: style(b.savedCurAttrData, false), charset: finalOf(b.savedCharset) };
}

// hasParams tells whether a parser state has looked at parameters: CSI and DCS.
const hasParams = s => s >= 3 && s <= 5 || s >= 9;

// sequence is all that a parser keeps of an unfinished sequence.
function sequence(p) {
  const s = p.currentState, header = s <= 5 || s === 9 || s === 10 || s === 12;
  const out = [s, header && s > 2 ? JSON.stringify(p._params.toArray()) : '', header && s ? p._collect : ''];
  const sub = s === 8 ? p._oscParser : s === 13 ? p._dcsParser : null;
  if (sub) out.push(sub._state ?? '', sub._id ?? sub._ident, ...sub._active.map(h => h._data));
  return out.join(' ');
}

// odd says why xterm.js is in a state that nothing else can be equal to, or ''.
// It stays so once it was: what follows depends on it.
let odd;
function look() {
  const b = term._core._bufferService.buffers, n = b.normal;
  if (odd) return;
  if (n.lines.length !== n.ybase + term.rows) odd = `has ${n.lines.length} lines and shows ${term.rows} from line ${n.ybase} on`;
}

// halves tells whether there is one half of a wide character without the other on a
// screen of so many columns.
function halves(b, cols) {
  for (let i = 0; i < b.lines.length; i++) {
    const l = b.lines.get(i);
    for (let x = 0; x < cols; x++) {
      const stub = x + 1 < cols && l.getWidth(x + 1) === 0 && !l.hasContent(x + 1);
      if (stub !== (l.getWidth(x) === 2) || x === 0 && l.getWidth(0) === 0 && !l.hasContent(0)) return true;
    }
  }
  return false;
}

let scratch;
function pendingParser(bytes) {
  scratch = scratch || new Terminal({ cols: 2, rows: 1, allowProposedApi: true, logLevel: 'off' });
  scratch._core._inputHandler._parser.reset();
  scratch._core.writeSync(bytes);
  return sequence(scratch._core._inputHandler._parser);
}

// repeat is the text that REP would print after a character with this join state.
function repeat(join, b) {
  const l = join && b.lines.get(b.ybase + b.y), x = b.x - (join >> 1 & 3);
  return l && x >= 0 && x < l.length ? l.getString(x) : '';
}

function state() {
  const core = term._core, ih = core._inputHandler, cs = core.coreService, m = cs.decPrivateModes, mouse = core.coreMouseService, sets = core._charsetService;
  const alt = term.buffer.active.type === 'alternate', bufs = core._bufferService.buffers;
  return {
    cols: term.cols, rows: term.rows, alt, main: buffer(bufs.normal), other: alt ? buffer(bufs.alt) : null, hidden: alt ? null : saved(bufs.alt),
    modes: {
      appCursor: m.applicationCursorKeys, appKeypad: m.applicationKeypad, origin: m.origin, autowrap: m.wraparound, reverseWrap: m.reverseWraparound,
      paste: m.bracketedPasteMode, focus: m.sendFocus, sync: m.synchronizedOutput, insert: cs.modes.insertMode, linefeed: !!term.options.convertEol,
      hidden: cs.isCursorHidden, mouse: mouse.activeProtocol, encoding: mouse.activeEncoding, cursorStyle: m.cursorStyle || '', cursorBlink: !!m.cursorBlink,
    },
    pen: style(ih._curAttrData, true), charsets: [0, 1, 2, 3].map(i => finalOf(sets._charsets[i])).join(''), gl: sets.glevel, charset: finalOf(sets.charset),
    title: ih._windowTitle, icon: ih._iconName, repeats: !!ih._parser.precedingJoinState, repeat: repeat(ih._parser.precedingJoinState, bufs.active),
    parser: ih._parser.currentState + ':' + (hasParams(ih._parser.currentState) ? ih._parser._params.toArray().join() : ''),
    linksKnown: core._oscLinkService._dataByLinkId.size, data: [...events.data], bells: events.bells, colors: events.colors.map(e => e.type + ':' + (e.index ?? '') + ':' + (e.color || '')),
  };
}

(async () => {
  for await (const text of require('readline').createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const job = JSON.parse(text), states = [];
    if (job.cuts) {
      process.stdout.write(JSON.stringify(resume.run(job)) + '\n');
      continue;
    }
    make(job);
    for (const w of job.writes || []) {
      term._core.writeSync(Buffer.from(w, 'base64'));
      states.push(state());
    }
    for (const s of job.steps || []) {
      try {
        if (s.cols) term.resize(s.cols, s.rows);
        if (s.reset) term.reset();
        if (!s.cols || s.reset) term._core.writeSync(Buffer.from(s.write || '', 'base64'));
      } catch (e) {
        term = undefined;
        states.push({ crash: String(e.stack) });
        break;
      }
      look();
      if (!s.skip) states.push({ ...state(), odd, sequence: sequence(term._core._inputHandler._parser), pendingParser: pendingParser(Buffer.from(s.pending || '', 'base64')) });
    }
    process.stdout.write(JSON.stringify({ states }) + '\n');
  }
})();
