package vt

import (
	"bytes"
	"strings"
	"unicode"
)

// The brackets around pasted text (xterm ctlseqs, Bracketed Paste Mode).
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	pasteEndC1 = "\u009b201~" // the same with the 8-bit CSI
)

// Paste returns the bytes that pasting text sends to a program. When the
// program asked for bracketed paste the text goes between ESC[200~ and ESC[201~
// and newlines are LF; otherwise they are CR, what the Enter key sends. CR LF is
// one newline.
//
// The text is data, with brackets or without: control characters (ECMA-48 5.2,
// 5.3) and DEL are left out, but not TAB, CR and LF, and so are the bytes of
// signals, those that the terminal makes a signal of (termios(3) VINTR, VQUIT,
// VSUSP): the line discipline acts on them before the program sees a bracket.
// Every ESC[201~ inside is removed whole, also one that only forms when another
// is removed.
func Paste(text string, m Modes, signals string) []byte {
	text = withoutControls(withoutEnds(text), signals)
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if !m.BracketedPaste {
		return []byte(strings.ReplaceAll(text, "\n", "\r"))
	}
	b := make([]byte, 0, len(pasteBegin)+len(text)+len(pasteEnd))
	return append(append(append(b, pasteBegin...), text...), pasteEnd...)
}

// withoutEnds leaves out what would end the brackets.
func withoutEnds(text string) string {
	if !strings.Contains(text, "201~") {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		b = append(b, text[i])
		if text[i] != '~' {
			continue
		}
		for _, end := range [...]string{pasteEnd, pasteEndC1} {
			if bytes.HasSuffix(b, []byte(end)) {
				b = b[:len(b)-len(end)]
				break
			}
		}
	}
	return string(b)
}

// withoutControls leaves out control characters, and the bytes of signals.
func withoutControls(text, signals string) string {
	return strings.Map(func(r rune) rune {
		blank := r == '\t' || r == '\r' || r == '\n'
		if !blank && unicode.IsControl(r) || strings.ContainsRune(signals, r) {
			return -1
		}
		return r
	}, text)
}
