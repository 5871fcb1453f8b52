package echo

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// maxPieces is how many pieces of input are remembered.
	maxPieces = 64
	// maxText bounds the text of one piece, in bytes. What follows is not recognized as an echo.
	maxText = 16 << 10
	// echoWithin is how much output may come between input and its echo, in bytes: a
	// program that does not read leaves the echo to the kernel, which echoes at once.
	echoWithin = 1 << 20
)

// Typed remembers recent input of one terminal. The zero value is ready; methods are safe
// for concurrent use.
type Typed struct {
	mu      sync.Mutex
	pieces  []piece // oldest first
	serial  uint64  // of the newest piece
	version uint64  // grows with every change
	last    time.Time
	lastSeq uint64 // position of the output at the last input
	entered uint64 // lastSeq when a line was submitted last
	line    line
}

// piece is input whose echo is contiguous: text without control characters.
type piece struct {
	serial uint64
	seq    uint64 // position of the output when its first character was typed
	text   string
	open   bool // the next input continues it
}

// Note remembers input that comes at position seq of the output. With text false only the
// time and the position are kept: a terminal that does not echo reads a password.
func (y *Typed) Note(p []byte, seq uint64, text bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.last, y.lastSeq = time.Now(), seq
	if text {
		y.add(string(p), seq)
	}
}

// Last returns when the last input came, and the position of the output then. The time is
// zero before the first input.
func (y *Typed) Last() (at time.Time, seq uint64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.last, y.lastSeq
}

// Within reports whether the newest text was typed at most n bytes of output before seq.
func (y *Typed) Within(n, seq uint64) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	k := len(y.pieces) - 1
	return k >= 0 && y.pieces[k].seq+n > seq
}

// since returns the pieces that may be echoed after a position, and the version of the list.
func (y *Typed) since(seq uint64) (list []piece, version uint64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, p := range y.pieces {
		if p.seq+echoWithin >= seq {
			list = append(list, p)
		}
	}
	return list, y.version
}

// changed reports whether text was typed after a version.
func (y *Typed) changed(version uint64) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.version != version
}

// add splits input into pieces at control characters and escape sequences.
func (y *Typed) add(s string, seq uint64) {
	y.version++
	for s != "" {
		n := printable(s)
		if n > 0 {
			y.extend(s[:n], seq)
			s = s[n:]
			continue
		}
		if k := len(y.pieces) - 1; k >= 0 {
			y.pieces[k].open = false
		}
		s = s[unprintable(s):]
	}
}

func (y *Typed) extend(text string, seq uint64) {
	k := len(y.pieces) - 1
	if k < 0 || !y.pieces[k].open || len(y.pieces[k].text) >= maxText {
		if len(y.pieces) == maxPieces {
			y.pieces = append(y.pieces[:0], y.pieces[1:]...)
		}
		y.serial++
		y.pieces = append(y.pieces, piece{serial: y.serial, seq: seq, open: true})
		k = len(y.pieces) - 1
	}
	p := &y.pieces[k]
	p.text += text[:min(len(text), maxText)]
}

// printable returns the length of the text at the start of s that a terminal shows
// unchanged.
func printable(s string) int {
	for i, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return i
		}
	}
	return len(s)
}

// unprintable returns the length of the control character or the key's escape sequence
// at the start of s: CSI, SS3, or ESC and a character.
func unprintable(s string) int {
	if s[0] != 0x1b || len(s) == 1 {
		_, n := utf8.DecodeRuneInString(s)
		return n
	}
	switch s[1] {
	case '[':
		if i := strings.IndexFunc(s[2:], func(r rune) bool { return r >= 0x40 && r < 0x7f }); i >= 0 {
			return 2 + i + 1
		}
		return len(s)
	case 'O':
		return min(len(s), 3)
	}
	return 2
}
