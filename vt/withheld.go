package vt

import (
	"bytes"
	"strconv"
)

const (
	// MaxClipboard bounds what one OSC 52 writes to the clipboard, in bytes: more
	// than people copy from a terminal. A longer one does nothing.
	MaxClipboard = 1 << 20
	// MaxPending bounds Frame.Pending, in bytes: an OSC 52 of MaxClipboard bytes in
	// base64 (RFC 4648, 4) with room for what comes before them.
	MaxPending = (MaxClipboard+2)/3*4 + 64
)

// Numbers of the strings that viewers never get: OSC 52 (xterm ctlseqs) and OSC
// 5522 (kitty) write the clipboard, which is the business of Effects.Clipboard.
const (
	oscClipboard      = 52
	oscKittyClipboard = 5522
)

// numberDigits is how many digits the number of an OSC can have to be read before
// the whole is there.
const numberDigits = 16

// Withheld reports whether viewers get nothing of the unfinished sequence pending: a
// write to the clipboard, or a string that is too long to mean anything.
func Withheld(pending []byte) bool {
	osc := bytes.HasPrefix(pending, []byte("\x1b]")) || bytes.HasPrefix(pending, []byte("\u009d"))
	if osc {
		yes, _ := withheld(pending[introducer:])
		return yes || len(pending) > MaxString
	}
	return len(pending) > MaxString
}

// withheld reports whether viewers get nothing of the OSC that begins with text, as
// soon as that is decided.
func withheld(text []byte) (yes, decided bool) {
	i := bytes.IndexByte(text[:min(len(text), numberDigits)], ';')
	if i < 0 {
		return false, len(text) >= numberDigits
	}
	n, err := strconv.Atoi(string(text[:i]))
	return err == nil && (n == oscClipboard || n == oscKittyClipboard), true
}

// numberEnd is the length of the number at the start of text with the ';' behind it,
// all of text when it does not begin with one.
func numberEnd(text []byte) int {
	n := 0
	for n < len(text) && text[n]-'0' < 10 {
		n++
	}
	if n == len(text) || text[n] != ';' {
		return len(text)
	}
	return n + 1
}

// voidString is an unfinished string that whatever follows makes void: it stands
// for one that is.
func voidString(s parserState) []byte {
	head := "\x1b_" // the text of an APC is ignored
	switch s {
	case stringOSC:
		head = "\x1b]"
	case headerDCS:
		head = "\x1bP"
	case stringDCS:
		head = "\x1bPz"
	case ignoreDCS:
		head = "\x1bP:<"
	}
	return append([]byte(head), bytes.Repeat([]byte("0"), MaxString+1-len(head))...)
}
