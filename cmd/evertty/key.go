package main

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// key is a key as a person presses it, whatever bytes the terminal sends for it.
type key struct {
	sym  rune // the character, or one of the named keys below
	mods mods
}

// mods are modifier keys; the bits are as in the parameter of CSI sequences
// less one (xterm ctlseqs, PC-Style Function Keys).
type mods uint8

const (
	modShift mods = 1 << iota
	modMeta
	modCtrl
	modSuper
	modsUsed = 1<<iota - 1 // locks and the rarer modifiers do not count
)

// Keys without a character lie beyond Unicode.
const (
	keyUp rune = unicode.MaxRune + 1 + iota
	keyDown
	keyRight
	keyLeft
	keyHome
	keyEnd
	keyInsert
	keyDelete
	keyPageUp
	keyPageDown
	keyF1 // F1 to F24 follow each other
)

const lastF = 24

// Keys with a character of their own.
const (
	keyTab    = '\t'
	keyEnter  = '\r'
	keyEscape = '\x1b'
	keySpace  = ' '
	keyBSpace = '\x7f'
)

// keyNames are tmux's names.
var keyNames = map[string]rune{
	"Up": keyUp, "Down": keyDown, "Right": keyRight, "Left": keyLeft, "Home": keyHome, "End": keyEnd,
	"Insert": keyInsert, "IC": keyInsert, "Delete": keyDelete, "DC": keyDelete,
	"PgUp": keyPageUp, "PageUp": keyPageUp, "PPage": keyPageUp, "PgDn": keyPageDown, "PageDown": keyPageDown,
	"NPage": keyPageDown,
	"Tab":   keyTab, "Enter": keyEnter, "Escape": keyEscape, "Space": keySpace, "BSpace": keyBSpace,
	"Return": keyEnter, "Esc": keyEscape, "Backspace": keyBSpace, "Ins": keyInsert, "Del": keyDelete,
}

// prefixes are tmux's names of modifiers: C-, M- and S-.
var prefixes = map[byte]mods{'C': modCtrl, 'M': modMeta, 'S': modShift}

// parseKey reads a key in tmux's notation: a character or a name, with any of
// the prefixes C-, M- and S-.
func parseKey(s string) (key, bool) {
	var k key
	for len(s) > 2 && s[1] == '-' {
		held, ok := prefixes[s[0]]
		if !ok {
			return k, false
		}
		k.mods |= held
		s = s[2:]
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case s == "BTab":
		k.sym, k.mods = keyTab, k.mods|modShift
	case keyNames[s] != 0:
		k.sym = keyNames[s]
	case len(s) > 1 && s[0] == 'F' && isF(s[1:]):
		f, _ := strconv.Atoi(s[1:])
		k.sym = keyF1 + rune(f-1)
	case n == len(s) && r != utf8.RuneError && unicode.IsPrint(r):
		k.sym = r
	default:
		return k, false
	}
	return k.plain(), true
}

func isF(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1 && n <= lastF && s[0] != '0' && s[0] != '+'
}

// plain is the one form of keys that terminals cannot or need not tell apart:
// C-i is Tab, C-b is C-B, S-a is A.
func (k key) plain() key {
	if k.mods&modCtrl != 0 {
		k.sym = unicode.ToLower(k.sym)
		if k.sym == '@' {
			k.sym = keySpace
		}
		if c, ok := legacyControls[k.sym]; ok {
			k.sym, k.mods = c, k.mods&^modCtrl
		}
		return k
	}
	if k.mods&modShift != 0 && unicode.IsLetter(k.sym) {
		k.sym, k.mods = unicode.ToUpper(k.sym), k.mods&^modShift
	}
	return k
}

// legacyControls are the keys that have the same byte of C0 (ECMA-48 5.2) as Ctrl with a character.
var legacyControls = map[rune]rune{'i': keyTab, 'm': keyEnter, '[': keyEscape, '?': keyBSpace}

// readKey reads the first key of what a terminal sent; n is its length, at least
// 1 of a p that is not empty. press is false for other events: releases,
// modifiers alone, mouse reports, unknown sequences.
func readKey(p []byte) (k key, press bool, n int) {
	if p[0] != keyEscape {
		return readChar(p)
	}
	if len(p) == 1 {
		return key{sym: keyEscape}, true, 1
	}
	switch p[1] {
	case '[':
		return readCSI(p)
	case 'O':
		if len(p) > 2 {
			k.sym, press = letteredKeys[p[2]]
			return k, press, 3
		}
	case keyEscape:
		return key{sym: keyEscape}, true, 1
	}
	k, press, n = readChar(p[1:])
	k.mods |= modMeta
	return k.plain(), press, n + 1
}

// readChar reads a character or a control.
func readChar(p []byte) (k key, press bool, n int) {
	c := p[0]
	switch {
	case c == keyTab || c == keyEnter || c == keyEscape || c == keyBSpace:
		return key{sym: rune(c)}, true, 1
	case c == 0:
		return key{keySpace, modCtrl}, true, 1
	case c < 0x1b:
		return key{rune(c) + 'a' - 1, modCtrl}, true, 1
	case c < 0x20:
		return key{rune(c) + '@', modCtrl}, true, 1
	}
	r, n := utf8.DecodeRune(p)
	return key{sym: r}, r != utf8.RuneError, n
}

// readCSI reads a control sequence (ECMA-48 5.4). One that is cut short is taken
// as no key.
func readCSI(p []byte) (k key, press bool, n int) {
	n = 2
	for n < len(p) && p[n] >= 0x20 && p[n] <= 0x3f {
		n++
	}
	if n >= len(p) || p[n] < 0x40 || p[n] > 0x7e {
		return k, false, n
	}
	k, press = sequenceKey(string(p[2:n]), p[n])
	return k, press, n + 1
}

// sequenceKey is the key of a control sequence in one of the forms terminals use:
// CSI 1;m A, CSI n;m ~, CSI 27;m;c ~ (xterm's modifyOtherKeys) and CSI c;m u
// (the kitty keyboard protocol, whose event 3 is a release).
func sequenceKey(params string, final byte) (k key, press bool) {
	if params != "" && params[0] > ';' { // private: replies and mouse reports
		return k, false
	}
	fields := append(strings.Split(params, ";"), "", "")
	code, _, _ := strings.Cut(fields[0], ":")
	first, _ := strconv.Atoi(code)
	mod, event, _ := strings.Cut(fields[1], ":")
	if event == "3" {
		return k, false
	}
	m, _ := strconv.Atoi(mod)
	held := mods(max(m-1, 0)) & modsUsed
	switch final {
	case 'u':
		return key{rune(first), held}.plain(), first > 0 && first <= unicode.MaxRune && !lone(first)
	case '~':
		if first == 27 {
			c, _ := strconv.Atoi(fields[2])
			return key{rune(c), held}.plain(), c > 0 && c <= unicode.MaxRune
		}
		k.sym, press = numberedKeys[first]
	case 'Z':
		k, press = key{sym: keyTab, mods: modShift}, true
	default:
		k.sym, press = letteredKeys[final]
	}
	k.mods |= held
	return k, press
}

// lone reports whether a code of the kitty protocol is a modifier or a lock by
// itself, which types nothing.
func lone(code int) bool { return code >= 57358 && code <= 57360 || code >= 57441 && code <= 57454 }

// letteredKeys are the keys of CSI A and SS3 A.
var letteredKeys = map[byte]rune{'A': keyUp, 'B': keyDown, 'C': keyRight, 'D': keyLeft, 'H': keyHome, 'F': keyEnd,
	'P': keyF1, 'Q': keyF1 + 1, 'R': keyF1 + 2, 'S': keyF1 + 3}

// numberedKeys are the keys of CSI n ~. F1 is 11; a number is left out after every fifth, fifth and fourth key.
var numberedKeys = map[int]rune{
	1: keyHome, 2: keyInsert, 3: keyDelete, 4: keyEnd, 5: keyPageUp, 6: keyPageDown, 7: keyHome, 8: keyEnd,
	11: keyF1, 12: keyF1 + 1, 13: keyF1 + 2, 14: keyF1 + 3, 15: keyF1 + 4, 17: keyF1 + 5, 18: keyF1 + 6,
	19: keyF1 + 7, 20: keyF1 + 8, 21: keyF1 + 9, 23: keyF1 + 10, 24: keyF1 + 11, 25: keyF1 + 12, 26: keyF1 + 13,
	28: keyF1 + 14, 29: keyF1 + 15, 31: keyF1 + 16, 32: keyF1 + 17, 33: keyF1 + 18, 34: keyF1 + 19,
}
