package vt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrUnknownKey is returned by EncodeKeys for a name it does not know.
var ErrUnknownKey = errors.New("unknown key")

// keyHelp says what EncodeKeys accepts, for the text of ErrUnknownKey.
const keyHelp = "use Enter Tab BTab Escape Space BSpace Up Down Left Right Home End PgUp PgDn Insert Delete F1..F24 " +
	"KP0..KP9 KP. KP/ KP* KP- KP+ KP= KPEnter or one character, each with any of C- M- S- before it, or text:LITERAL"

// Bits of the modifier parameter, which is their sum plus one (xterm ctlseqs, PC-Style
// Function Keys).
const (
	shift = 1 << iota
	alt
	ctrl
)

// Kitty keyboard flags that change what EncodeKeys sends (kitty keyboard
// protocol, Progressive enhancement). Flag 2, event types, changes nothing for
// a key press.
const (
	kittyDisambiguate = 1
	kittyAlternates   = 4
	kittyReportAll    = 8
	kittyText         = 16
)

// EncodeKeys returns the bytes that the keys send to a program in modes m, one
// after the other. A key is one of
//
//   - a name as in tmux, in any case: Enter Tab BTab Escape Space BSpace Up Down
//     Left Right Home End PgUp PgDn Insert Delete F1..F24; also Return, Esc,
//     Backspace, PageUp, PPage, PageDown, NPage, IC, Ins, DC and Del;
//   - a key of the numeric keypad: KP0..KP9, KP. KP/ KP* KP- KP+ KP= KPEnter, or
//     KPDecimal KPDivide KPMultiply KPSubtract KPAdd KPEqual;
//   - one character, for example "a" or "é";
//   - either with any of the prefixes C- (control), M- (alt) and S- (shift), in
//     any order;
//   - "text:" and literal text, which is sent as it is.
//
// Cursor keys follow DECCKM, modified function keys are in xterm's form
// (CSI 1 ; mod A), control characters as in xterm ctlseqs, and with a flag in
// m.Kitty the kitty keyboard protocol rules. F13 to F24 are, outside that
// protocol, shifted F1 to F12, as terminfo says of xterm. Keys of the numeric
// keypad follow DECKPAM.
//
// An error wraps ErrUnknownKey, names the key and lists the allowed ones; nothing
// is encoded then.
func EncodeKeys(keys []string, m Modes) ([]byte, error) {
	var b []byte
	for _, name := range keys {
		if text, ok := strings.CutPrefix(name, "text:"); ok {
			b = append(b, text...)
			continue
		}
		k, ok := parseKey(name)
		if !ok {
			return nil, fmt.Errorf("vt: %w %q: %s", ErrUnknownKey, name, keyHelp)
		}
		b = k.encode(b, m)
	}
	return b, nil
}

// key is one key press.
type key struct {
	mods  int
	char  rune // a character, or the control character of Enter, Tab, Escape, BSpace; 0 for function keys
	final byte // of the function key's sequence: 'A' in CSI A, '~' in CSI 5 ~
	num   int  // the number before '~'
	f     int  // n of Fn, 0 for other keys
}

// onKeypad reports whether it is a key of the numeric keypad.
func (k key) onKeypad() bool { return k.char != 0 && k.final != 0 }

var namedKeys = map[string]key{
	"enter": {char: '\r'}, "tab": {char: '\t'}, "btab": {char: '\t', mods: shift}, "escape": {char: '\x1b'},
	"space": {char: ' '}, "bspace": {char: '\x7f'},
	"up": {final: 'A'}, "down": {final: 'B'}, "right": {final: 'C'}, "left": {final: 'D'},
	"home": {final: 'H'}, "end": {final: 'F'}, "insert": {final: '~', num: 2}, "delete": {final: '~', num: 3},
	"pgup": {final: '~', num: 5}, "pgdn": {final: '~', num: 6},
	// the same keys as tmux, terminfo and keyboards call them
	"return": {char: '\r'}, "esc": {char: '\x1b'}, "backspace": {char: '\x7f'},
	"ic": {final: '~', num: 2}, "ins": {final: '~', num: 2}, "dc": {final: '~', num: 3}, "del": {final: '~', num: 3},
	"pageup": {final: '~', num: 5}, "ppage": {final: '~', num: 5},
	"pagedown": {final: '~', num: 6}, "npage": {final: '~', num: 6},
}

// fKeys are F1 to F12 (xterm ctlseqs): F1 to F4 have finals of their own.
var fKeys = [...]key{
	{final: 'P'}, {final: 'Q'}, {final: 'R'}, {final: 'S'},
	{final: '~', num: 15}, {final: '~', num: 17}, {final: '~', num: 18}, {final: '~', num: 19},
	{final: '~', num: 20}, {final: '~', num: 21}, {final: '~', num: 23}, {final: '~', num: 24},
}

const (
	maxF     = 24
	kittyF13 = 57376 // F13 to F24 are 57376 to 57387 (kitty keyboard protocol, Functional key definitions)
)

func parseKey(name string) (k key, ok bool) {
	mods := 0
	for len(name) > 2 && name[1] == '-' {
		i := strings.IndexByte("SMC", name[0])
		if i < 0 {
			return key{}, false
		}
		mods |= 1 << i
		name = name[2:]
	}
	r, size := utf8.DecodeRuneInString(name)
	if size == len(name) && r >= ' ' && r != utf8.RuneError && !unicode.IsControl(r) {
		return charKey(r, mods), true
	}
	lower := strings.ToLower(name)
	if k, ok = namedKeys[lower]; !ok {
		k, ok = keypad[lower]
	}
	if !ok {
		k, ok = parseF(name)
	}
	k.mods |= mods
	return k, ok
}

func parseF(name string) (k key, ok bool) {
	if len(name) < 2 || name[0]|0x20 != 'f' || name[1] == '0' || name[1] == '+' {
		return key{}, false
	}
	n, err := strconv.Atoi(name[1:])
	if err != nil || n < 1 || n > maxF {
		return key{}, false
	}
	k = fKeys[(n-1)%len(fKeys)]
	k.f = n
	return k, true
}

// charKey is the key of a character: an upper-case letter is the shifted lower-case one.
func charKey(r rune, mods int) key {
	if l := unicode.ToLower(r); l != r && unicode.ToUpper(l) == r {
		return key{char: l, mods: mods | shift}
	}
	return key{char: r, mods: mods}
}

// text is what the key types: the character in its case.
func (k key) text() rune {
	if k.mods&shift != 0 {
		return unicode.ToUpper(k.char)
	}
	return k.char
}

func (k key) encode(b []byte, m Modes) []byte {
	kitty := m.Kitty&(kittyDisambiguate|kittyReportAll) != 0
	switch {
	case k.char == 0:
		return k.function(b, kitty, m.AppCursor)
	case k.onKeypad():
		return k.keypadKey(b, m)
	case !kitty:
		return k.legacy(b)
	case m.Kitty&kittyReportAll != 0:
		return k.kitty(b, m.Kitty)
	case k.char == '\x1b', k.mods&(ctrl|alt) != 0, k.mods != 0 && k.control():
		return k.kitty(b, m.Kitty)
	}
	return utf8.AppendRune(b, k.text())
}

// control reports whether the key is Enter, Tab, Escape or BSpace.
func (k key) control() bool { return k.char < ' ' || k.char == '\x7f' }

// legacy encodes a character as a VT100 with xterm's Alt does (xterm ctlseqs,
// Alt and Meta Keys; Table of control characters).
func (k key) legacy(b []byte) []byte {
	if k.mods&alt != 0 {
		b = append(b, '\x1b')
	}
	switch {
	case k.char == '\t' && k.mods&shift != 0:
		return append(b, "\x1b[Z"...)
	case k.mods&ctrl == 0:
		return utf8.AppendRune(b, k.text())
	case k.char == '\x7f':
		return append(b, '\b')
	case k.char >= 'a' && k.char <= 'z':
		return append(b, byte(k.char)&0x1f)
	}
	if i := strings.IndexRune(ctrlChars, k.char); i >= 0 {
		return append(b, ctrlCodes[i])
	}
	return utf8.AppendRune(b, k.text())
}

// Characters other than letters that Control changes, and what to.
const (
	ctrlChars = " @2[3\\4]5^6_7/8?"
	ctrlCodes = "\x00\x00\x00\x1b\x1b\x1c\x1c\x1d\x1d\x1e\x1e\x1f\x1f\x1f\x7f\x7f"
)

// function encodes a key that types nothing.
func (k key) function(b []byte, kitty, appCursor bool) []byte {
	mods := k.mods
	if k.f > len(fKeys) {
		if kitty {
			return appendCSI(b, kittyF13+k.f-len(fKeys)-1, mods, 'u')
		}
		mods |= shift
	}
	switch {
	case k.final == '~':
		return appendCSI(b, k.num, mods, '~')
	case kitty && k.final == 'R': // CSI R is the cursor position report
		return appendCSI(b, 13, mods, '~')
	case mods == 0 && !kitty && (appCursor || k.f > 0):
		return append(b, '\x1b', 'O', k.final)
	case mods == 0:
		return append(b, '\x1b', '[', k.final)
	}
	return appendCSI(b, 1, mods, k.final)
}

// kitty encodes a character as CSI code : shifted ; mods ; text u (kitty
// keyboard protocol).
func (k key) kitty(b []byte, flags uint8) []byte { return k.kittyAs(b, flags, k.text()) }

// kittyAs is kitty for a key that types another character than its code.
func (k key) kittyAs(b []byte, flags uint8, typed rune) []byte {
	b = strconv.AppendInt(append(b, "\x1b["...), int64(k.char), 10)
	if flags&kittyAlternates != 0 && typed != k.char && !k.onKeypad() {
		b = strconv.AppendInt(append(b, ':'), int64(typed), 10)
	}
	const reported = kittyReportAll | kittyText
	text := flags&reported == reported && k.mods&(ctrl|alt) == 0 && typed >= ' ' && typed != '\x7f'
	if k.mods != 0 || text {
		b = append(b, ';')
	}
	if k.mods != 0 {
		b = strconv.AppendInt(b, int64(k.mods+1), 10)
	}
	if text {
		b = strconv.AppendInt(append(b, ';'), int64(typed), 10)
	}
	return append(b, 'u')
}

// appendCSI appends CSI num final, or CSI num ; mods final.
func appendCSI(b []byte, num, mods int, final byte) []byte {
	b = strconv.AppendInt(append(b, "\x1b["...), int64(num), 10)
	if mods != 0 {
		b = strconv.AppendInt(append(b, ';'), int64(mods+1), 10)
	}
	return append(b, final)
}
