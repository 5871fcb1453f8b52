package terminal

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Bounds of what is remembered of input so that its echo can be told from output.
const (
	maxTyped     = 64       // pieces
	maxTypedText = 16 << 10 // bytes of one piece; what is beyond is not known as echo
	// echoWithin is how much output may come between input and its echo, in bytes: a
	// program that does not read leaves the echo to the kernel, which is at once.
	echoWithin = 1 << 20
)

// typing is what was typed into a terminal lately.
type typing struct {
	mu      sync.Mutex
	pieces  []typed // oldest first
	serial  uint64  // of the newest piece
	version uint64  // grows with every change
	last    time.Time
	lastSeq uint64 // position of the output at the last input
}

// typed is text that an echo would show in one go.
type typed struct {
	serial uint64
	seq    uint64 // position of the output when its first character was typed
	text   string
	open   bool // what is typed next goes on with it
}

// note remembers input that is about to be written and returns the position of
// the output just before. What a terminal that does not echo gets (a password) is
// not remembered.
func (y *typing) note(t *Terminal, p []byte) uint64 {
	mode, err := t.process.Master().LineMode()
	seq := t.Hub().Facts().Seq
	y.mu.Lock()
	defer y.mu.Unlock()
	y.last, y.lastSeq = time.Now(), seq
	if err == nil && (mode.Echo || !mode.Canonical) {
		y.add(string(p), seq)
	}
	return seq
}

// when tells when the last input was, and where the output was then.
func (y *typing) when() (at time.Time, seq uint64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.last, y.lastSeq
}

// since returns what was typed and may be echoed behind a position, and the
// version of that.
func (y *typing) since(seq uint64) (list []typed, version uint64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, p := range y.pieces {
		if p.seq+echoWithin >= seq {
			list = append(list, p)
		}
	}
	return list, y.version
}

// lately tells whether something was typed not long before position seq.
func (y *typing) lately(seq uint64) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	k := len(y.pieces) - 1
	return k >= 0 && y.pieces[k].seq+maxLocate > seq
}

// changed tells whether anything was typed since a version.
func (y *typing) changed(version uint64) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.version != version
}

// add takes input apart: text between control characters and escape sequences.
func (y *typing) add(s string, seq uint64) {
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

func (y *typing) extend(text string, seq uint64) {
	k := len(y.pieces) - 1
	if k < 0 || !y.pieces[k].open || len(y.pieces[k].text) >= maxTypedText {
		if len(y.pieces) == maxTyped {
			y.pieces = append(y.pieces[:0], y.pieces[1:]...)
		}
		y.serial++
		y.pieces = append(y.pieces, typed{serial: y.serial, seq: seq, open: true})
		k = len(y.pieces) - 1
	}
	p := &y.pieces[k]
	p.text += text[:min(len(text), maxTypedText)]
}

// printable is the length of the text at the start of s that a terminal shows as
// it is.
func printable(s string) int {
	for i, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return i
		}
	}
	return len(s)
}

// unprintable is the length of the control character or the key's escape sequence
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
