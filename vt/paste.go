package vt

import "bytes"

// The brackets around pasted text (xterm ctlseqs, Bracketed Paste Mode).
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	pasteEndC1 = "\u009b201~" // the same with the 8-bit CSI
)

// Paste returns the bytes that pasting text sends to a program. When the
// program asked for bracketed paste the text goes between ESC[200~ and ESC[201~
// and cannot leave the brackets: every ESC[201~ inside is removed, also one that
// only forms when another is removed. Otherwise each newline (CR LF or LF)
// becomes CR, what the Enter key sends.
func Paste(text string, m Modes) []byte {
	if m.BracketedPaste {
		return bracketed(text)
	}
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		switch {
		case text[i] != '\n':
			b = append(b, text[i])
		case i == 0 || text[i-1] != '\r':
			b = append(b, '\r')
		}
	}
	return b
}

func bracketed(text string) []byte {
	b := make([]byte, 0, len(pasteBegin)+len(text)+len(pasteEnd))
	b = append(b, pasteBegin...)
	for i := range len(text) {
		b = append(b, text[i])
		if text[i] != '~' {
			continue
		}
		for _, end := range [...]string{pasteEnd, pasteEndC1} {
			if bytes.HasSuffix(b[len(pasteBegin):], []byte(end)) {
				b = b[:len(b)-len(end)]
				break
			}
		}
	}
	return append(b, pasteEnd...)
}
