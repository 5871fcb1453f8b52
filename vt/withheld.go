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

// oscClipboard is the number of the OSC that writes the clipboard (xterm ctlseqs).
const oscClipboard = 52

// shownOSC reports whether viewers get the OSC with this number: one that xterm.js or a
// user's terminal shows and that a snapshot restores. All others end here, and so do all
// DCS, APC, PM and SOS: nobody could take back what they leave in a user's terminal.
func shownOSC(n int) bool {
	switch n {
	case 0, 1, 2, 4, 7, 8, 10, 11, 12, 104, 110, 111, 112:
		return true
	}
	return false
}

// numberDigits is how many digits the number of an OSC can have to be read before
// the whole is there.
const numberDigits = 16

// Withheld reports whether viewers get nothing of the unfinished sequence pending: a
// string that they do not show, or one that is too long to mean anything.
func Withheld(pending []byte) bool {
	for _, osc := range [...]string{"\x1b]", "\u009d"} {
		if bytes.HasPrefix(pending, []byte(osc)) {
			yes, _ := withheld(pending[introducer:])
			return yes || len(pending) > MaxString
		}
	}
	for _, string := range [...]string{"\x1bP", "\x1bX", "\x1b^", "\x1b_", "\u0090", "\u0098", "\u009e", "\u009f"} {
		if bytes.HasPrefix(pending, []byte(string)) {
			return true
		}
	}
	return len(pending) > MaxString
}

// withheld reports whether viewers get nothing of the OSC that begins with text, as
// soon as that is decided.
func withheld(text []byte) (yes, decided bool) {
	i := bytes.IndexByte(text[:min(len(text), numberDigits)], ';')
	if i < 0 {
		long := len(text) >= numberDigits
		return long, long
	}
	return !shownOSC(oscNumber(text[:i])), true
}

// oscNumber is the number of an OSC, -1 when it has none.
func oscNumber(digits []byte) int {
	n, err := strconv.ParseUint(string(digits), 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
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
