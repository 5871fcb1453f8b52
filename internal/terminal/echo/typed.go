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
	text   []byte // grows at its end alone
	open   bool   // the next input continues it
}

// Note remembers input that comes at position seq of the output. With text false only the
// time and the position are kept: a terminal that does not echo reads a password.
func (t *Typed) Note(p []byte, seq uint64, text bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.lastSeq = time.Now(), seq
	if text {
		t.add(string(p), seq)
	}
}

// Last returns when the last input came, and the position of the output then. The time is
// zero before the first input.
func (t *Typed) Last() (at time.Time, seq uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.lastSeq
}

// Within reports whether the newest text was typed at most n bytes of output before seq.
func (t *Typed) Within(n, seq uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := len(t.pieces) - 1
	return k >= 0 && t.pieces[k].seq+n > seq
}

// since returns the pieces that may be echoed after a position, and the version of the list.
func (t *Typed) since(seq uint64) (list []piece, version uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.pieces {
		if p.seq+echoWithin >= seq {
			list = append(list, p)
		}
	}
	return list, t.version
}

// changed reports whether text was typed after a version.
func (t *Typed) changed(version uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version != version
}

// add splits input into pieces at control characters and escape sequences.
func (t *Typed) add(s string, seq uint64) {
	t.version++
	for s != "" {
		n := printable(s)
		if n > 0 {
			t.extend(s[:n], seq)
			s = s[n:]
			continue
		}
		if k := len(t.pieces) - 1; k >= 0 {
			t.pieces[k].open = false
		}
		s = s[unprintable(s):]
	}
}

func (t *Typed) extend(text string, seq uint64) {
	k := len(t.pieces) - 1
	if k < 0 || !t.pieces[k].open || len(t.pieces[k].text) >= maxText {
		if len(t.pieces) == maxPieces {
			t.pieces = append(t.pieces[:0], t.pieces[1:]...)
		}
		t.serial++
		t.pieces = append(t.pieces, piece{serial: t.serial, seq: seq, open: true})
		k = len(t.pieces) - 1
	}
	p := &t.pieces[k]
	p.text = append(p.text, text[:min(len(text), maxText)]...)
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
