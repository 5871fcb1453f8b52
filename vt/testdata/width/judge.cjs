// Asks a real xterm.js how wide characters are. One job per line on stdin, one
// answer per line on stdout.
// {version, text: [code point, …]}: what each character of the text leaves, from nothing before.
// {version, after: [code point, …]}: what every code point 0..0x10FFFF leaves when it follows that text.
// An answer is base64, one byte per character: bit 0 joins, bits 1-2 width, bits 3-6 grapheme break state.
'use strict';
const { Terminal } = require('@xterm/headless');
const { Unicode11Addon } = require('@xterm/addon-unicode11');

// addon-unicode-graphemes 0.4.0 reads its table from the start of the memory
// that Node's Buffer shares with others and so gets every character beyond the
// BMP wrong. Without Buffer it does what it does in a browser.
const { Buffer } = globalThis;
delete globalThis.Buffer;
const { UnicodeGraphemesAddon } = require('@xterm/addon-unicode-graphemes');
globalThis.Buffer = Buffer;

const term = new Terminal({ allowProposedApi: true, logLevel: 'off' });
term.loadAddon(new Unicode11Addon());
term.loadAddon(new UnicodeGraphemesAddon());
const service = term._core.unicodeService;

// left is charProperties without the bits of the state that nothing reads.
const left = properties => properties & 0x7f;

function answer(job) {
  term.unicode.activeVersion = job.version;
  let before = 0;
  const text = Uint8Array.from(job.text || job.after, r => left(before = service.charProperties(r, before)));
  if (job.text) return text;
  const all = new Uint8Array(0x110000);
  for (let r = 0; r < all.length; r++) all[r] = left(service.charProperties(r, before));
  return all;
}

(async () => {
  for await (const line of require('readline').createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    process.stdout.write(Buffer.from(answer(JSON.parse(line))).toString('base64') + '\n');
  }
})();
