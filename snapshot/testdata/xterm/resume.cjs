// Answers jobs with cuts: does an xterm.js that gets a snapshot in the middle of a
// text, and then the rest, stay equal to one that got all of the text?
// {cols, rows, scrollback, unicode, text: base64, resizes: [{at, cols, rows, ansi},
// …], cuts: [{at, resized, forgets, ansi: base64}, …], probes: [base64, …]}; every at is
// an offset in text, ascending, and resized is how many of the resizes came before.
// ansi of a resize is the snapshot that viewers get when the engine could not follow it.
// forgets: REP would do nothing, whatever a viewer remembers that did not get a
// query. A snapshot is written to a new terminal of the size of its moment. The
// answer is {misses: [{cut, when, what: [difference, …]}, …]}, where when is "cut",
// "end", or "probe N" after the N-th probe. The differences are those that a person
// or the rest of the text can see, and the state that decides about the rest. A text
// that makes xterm.js throw an exception has no misses but crash, what it said.
'use strict';

let make, finalOf, sequence; // of judge.cjs
exports.with = tools => { ({ make, finalOf, sequence } = tools); };

exports.run = job => {
  try {
    return run(job);
  } catch (e) {
    return { misses: [], crash: String(e.stack) };
  }
};

function run(job) {
  const text = Buffer.from(job.text || '', 'base64'), probes = job.probes.map(p => Buffer.from(p, 'base64'));
  const whole = feeder(job, text, 0, make(job, job.cols, job.rows));
  const misses = [], viewers = [];
  job.cuts.forEach((c, i) => {
    whole.to(c.at, c.resized);
    const viewer = feeder(job, text, c.at, make(job, whole.term.cols, whole.term.rows), c.resized);
    viewer.term._core.writeSync(Buffer.from(c.ansi, 'base64'));
    const what = differences(whole.term, viewer.term, c.forgets);
    if (what.length) misses.push({ cut: i, when: 'cut', what });
    else viewers.push([i, viewer]);
    if (what.length) viewer.term.dispose();
  });
  whole.to(text.length);
  for (const [i, v] of viewers) v.to(text.length);
  let left = viewers;
  ['end', ...probes.keys()].forEach((when, n) => {
    if (n > 0) for (const t of [whole.term, ...left.map(v => v[1].term)]) t._core.writeSync(probes[n - 1]);
    left = left.filter(([i, v]) => {
      const what = differences(whole.term, v.term, job.cuts[i].forgets);
      if (what.length) misses.push({ cut: i, when: n ? 'probe ' + n : 'end', what });
      if (what.length) v.term.dispose();
      return !what.length;
    });
  });
  for (const t of [whole.term, ...left.map(v => v[1].term)]) t.dispose();
  return { misses };
}

// feeder writes text to a terminal from an offset on, with the resizes on the way,
// the first of which are done already.
function feeder(job, text, at, term, done = 0) {
  const resizes = job.resizes || [];
  return {
    term,
    to(end, resized = resizes.length) {
      for (; done < resized; done++) {
        const r = resizes[done];
        if (at < r.at) term._core.writeSync(text.subarray(at, r.at));
        term.resize(r.cols, r.rows);
        if (r.ansi) {
          term.reset();
          term._core.writeSync(Buffer.from(r.ansi, 'base64'));
        }
        at = r.at;
      }
      if (at < end) term._core.writeSync(text.subarray(at, end));
      at = end;
    },
  };
}

// parts are what the rest of a program's output depends on or a person sees.
const parts = {
  shown: t => t.buffer.active.type,
  cursor: t => Math.min(t._core.buffer.x, t.cols - 1) + ',' + t._core.buffer.y,
  hidden: t => t._core.coreService.isCursorHidden,
  insert: t => t._core.coreService.modes.insertMode,
  linefeed: t => !!t.options.convertEol,
  mouse: t => t._core.coreMouseService.activeProtocol + ' ' + t._core.coreMouseService.activeEncoding,
  title: t => (t._core._inputHandler._windowTitle + '\n' + t._core._inputHandler._iconName).replace(/\x7f/g, ''),
};
for (const m of ['applicationCursorKeys', 'applicationKeypad', 'bracketedPasteMode', 'origin', 'reverseWraparound', 'sendFocus', 'wraparound', 'synchronizedOutput']) {
  parts[m] = t => t._core.coreService.decPrivateModes[m];
}

// unseen are parts that show only when the rest of the text uses them.
const unseen = {
  wrapPending: t => Math.max(t._core.buffer.x - t.cols, -1),
  margins: t => t._core.buffer.scrollTop + '-' + t._core.buffer.scrollBottom,
  pen: t => style(t, t._core._inputHandler._curAttrData).replace('":', '"'), // a forgotten link is opened again before it is printed
  charsets: t => t._core._charsetService.glevel + [0, 1, 2, 3].map(i => finalOf(t._core._charsetService._charsets[i])).join('') + finalOf(t._core._charsetService.charset),
  repeats: t => repeated(t),
  sequence: t => sequence(t._core._inputHandler._parser),
  saved: t => saved(t, t._core._bufferService.buffers.normal),
  savedAlternate: t => saved(t, t._core._bufferService.buffers.alt),
  tabs: t => tabs(t, t._core._bufferService.buffers.normal),
  tabsAlternate: t => t.buffer.active.type === 'alternate' ? tabs(t, t._core.buffer) : '',
  marginsBelow: t => t._core._bufferService.buffers.normal.scrollTop + '-' + t._core._bufferService.buffers.normal.scrollBottom,
};
const style = (t, a) => {
  const e = a.extended;
  return JSON.stringify([of16(a.fg), of16(a.bg), of16(e._ext), e.urlId ? linkOf(t, e.urlId) : '']);
};
// of16 is a colour with flags, without what has no effect: how one of the palette
// was chosen, and what is left of a direct one.
const of16 = v => {
  const mode = v & 0x3000000;
  return mode === 0x1000000 || mode === 0x2000000 ? v & ~0x3ffff00 | 0x1000000 : v;
};
const saved = (t, b) => [b.savedX, b.savedY - b.ybase, of16(b.savedCurAttrData.fg), of16(b.savedCurAttrData.bg), finalOf(b.savedCharset)].join(' ');
// A stop behind the last column counts where a wider screen does not get it anyway.
const tabs = (t, b) => Object.keys(b.tabs).filter(x => b.tabs[x] && x > 0 && (x < t.cols || +x <= t.cols + 1 && x % 8)).join(' ');
const repeated = t => {
  const j = t._core._inputHandler._parser.precedingJoinState, b = t._core.buffer, l = b.lines.get(b.ybase + b.y);
  const x = b.x - (j >> 1 & 3), text = j && l && x >= 0 ? l.getString(x) : '';
  return text && (j >> 1 & 3) + ' ' + text; // that it joined something has no effect on what follows
};

function differences(want, got, forgets) {
  const out = [];
  for (const name in unseen) {
    const w = unseen[name](want), g = unseen[name](got);
    if (w !== g && !(forgets && name === 'repeats')) out.push(`${name}: got ${g}, want ${w}`);
  }
  for (const name in parts) {
    const w = parts[name](want), g = parts[name](got);
    if (w !== g) out.push(`${name}: got ${g}, want ${w}`);
  }
  if (want.buffer.active.type !== got.buffer.active.type) return out;
  const w = want._core._bufferService.buffers, g = got._core._bufferService.buffers;
  buffers(out, 'main', want, w.normal, got, g.normal);
  if (w.active === w.alt) buffers(out, 'alternate', want, w.alt, got, g.alt);
  return out.slice(0, 4);
}

function buffers(out, name, want, w, got, g) {
  if (w.lines.length !== g.lines.length) {
    out.push(`${name} length: got ${g.lines.length}, want ${w.lines.length}`);
    return;
  }
  for (let i = 0; i < w.lines.length && out.length < 4; i++) {
    const a = w.lines.get(i), b = g.lines.get(i);
    if (!a || !b) continue;
    if (a.isWrapped !== b.isWrapped && (i > 0 || want.rows > 1 || name === 'alternate')) out.push(`${name} wrapped ${i} of ${w.lines.length}: got ${b.isWrapped}, want ${a.isWrapped}`);
    row(out, `${name} row ${i} of ${w.lines.length}`, want, a, got, b);
  }
}

// linkOf is where a link leads, with a colon before it when xterm.js has forgotten that; see keepLinks in judge.cjs.
const linkOf = (t, id) => {
  const l = t._core._oscLinkService.kept.get(id);
  return (l.id || t._core._oscLinkService.getLinkData(id) ? '' : ':') + l.uri;
};

const empty = o => { for (const _ in o) return false; return true; };

// row compares two rows. The numbers of cells are compared first, which says all
// where no cell has a link, an underline style or marks.
function row(out, where, want, a, got, b) {
  const n = Math.min(a.length, b.length, want.cols), da = a._data, db = b._data;
  let i = 0;
  while (i < 3 * n && da[i] === db[i]) i++;
  if (i === 3 * n && empty(a._combined) && empty(b._combined) && empty(a._extendedAttrs) && empty(b._extendedAttrs)) return;
  for (let x = 0; x < n; x++) {
    const w = shown(want, a, x), g = shown(got, b, x);
    if (w !== g) {
      out.push(`${where}, column ${x}: got ${g}, want ${w}`);
      return;
    }
  }
}

let cell;
const color = (mode, value) => mode === 0 ? '' : mode === 0x3000000 ? '#' + value.toString(16) : '' + value;

// shown is what can be seen of a cell, or told by selective erasure: of an erased one that shows no more than its background only that.
function shown(t, line, x) {
  cell = cell || t.buffer.active.getNullCell();
  line.loadCell(x, cell);
  const e = cell.hasExtendedAttrs() ? cell.extended : null, width = cell.getWidth(), text = cell.getChars(), bg = color(cell.getBgColorMode(), cell.getBgColor());
  const ul = cell.isUnderline() ? e && e.underlineStyle || 1 : 0;
  const link = e && e.urlId ? linkOf(t, e.urlId) : '';
  let ink = (cell.isInverse() ? 'r' : '') + (cell.isStrikethrough() ? 's' : '') + (cell.isOverline() ? 'o' : '') + (cell.isProtected() ? 'p' : '');
  if (width && text === '' && !ul && !ink && !link) return JSON.stringify([text, width, '', bg, '', 0, '', '']);
  ink += (cell.isBold() ? 'b' : '') + (cell.isDim() ? 'd' : '') + (cell.isItalic() ? 'i' : '') + (cell.isBlink() ? 'k' : '') + (cell.isInvisible() ? 'v' : '');
  const uc = ul && e && !cell.isUnderlineColorDefault() ? color(cell.getUnderlineColorMode(), cell.getUnderlineColor()) : '';
  return JSON.stringify([text, width, color(cell.getFgColorMode(), cell.getFgColor()), bg, ink, ul, uc, link]);
}
