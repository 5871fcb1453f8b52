package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// escapePause is how long ESC waits for the rest of a key's sequence; alone it is the key itself.
const escapePause = 50 * time.Millisecond

// What a key does in the picker.
const (
	pressNothing = iota
	pressLeave
	pressEnter
	pressText // types text; DEL and NAK too
	pressMove // the mark by lines
	pressPage // the mark by windows
	pressPaste
)

// What a terminal puts around pasted text while it was asked to (xterm ctlseqs, DECSET 2004).
const (
	bracketPastes = "\x1b[?2004h"
	plainPastes   = "\x1b[?2004l"
	beginPaste    = "\x1b[200~"
	endPaste      = "\x1b[201~"
)

// pickerKey is one key.
type pickerKey struct {
	what int
	text string
	by   int
}

// toTheEnd is more lines than a list has.
const toTheEnd = 1 << 30

// namedKeys are the keys that send a sequence or a control character (xterm ctlseqs, "PC-Style Function Keys").
var namedKeys = map[string]pickerKey{
	"\r": {what: pressEnter}, "\n": {what: pressEnter}, "\x03": {what: pressLeave}, "\x1b": {what: pressLeave},
	"\x1b[A": {what: pressMove, by: -1}, "\x1bOA": {what: pressMove, by: -1}, "\x10": {what: pressMove, by: -1},
	"\x1b[B": {what: pressMove, by: 1}, "\x1bOB": {what: pressMove, by: 1}, "\x0e": {what: pressMove, by: 1},
	"\x1b[5~": {what: pressPage, by: -1}, "\x1b[6~": {what: pressPage, by: 1},
	"\x1b[H": {what: pressMove, by: -toTheEnd}, "\x1b[F": {what: pressMove, by: toTheEnd},
	"\x1b[1~": {what: pressMove, by: -toTheEnd}, "\x1b[4~": {what: pressMove, by: toTheEnd},
	"\x7f": {what: pressText, text: "\x7f"}, "\b": {what: pressText, text: "\x7f"},
	"\x15": {what: pressText, text: "\x15"},
}

// firstKey is the first key in p and its length; 0 is a key whose rest has not come.
func firstKey(p []byte) (pickerKey, int) {
	if p[0] == '\x1b' {
		n := sequenceLen(p)
		return namedKeys[string(p[:n])], n
	}
	if k, ok := namedKeys[string(p[:1])]; ok {
		return k, 1
	}
	if !utf8.FullRune(p) {
		return pickerKey{}, 0
	}
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError || !unicode.IsPrint(r) {
		return pickerKey{}, n
	}
	return pickerKey{what: pressText, text: string(r)}, n
}

// firstPasted is the pasted text that p begins with and its length, or a sequence, which is no text. 0 is a character
// or sequence whose rest has not come. Pasted text is one line: nothing in it is a key.
func firstPasted(p []byte) (pickerKey, int) {
	if p[0] == '\x1b' {
		return pickerKey{}, sequenceLen(p)
	}
	n := bytes.IndexByte(p, '\x1b')
	if n < 0 {
		n = len(p) - cutRune(p)
	}
	return pickerKey{what: pressPaste, text: strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, string(p[:n]))}, n
}

// cutRune is how many bytes at the end of p are the beginning of a character.
func cutRune(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if end := p[len(p)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRune(end) {
				return 0
			}
			return n
		}
	}
	return 0
}

// sequenceLen is the length of the sequence that p begins with: ESC and a character, SS3 and one more, or CSI to its
// final character. 0 is one whose rest has not come.
func sequenceLen(p []byte) int {
	switch {
	case len(p) < 2:
		return 0
	case p[1] == '[':
		if end := strings.IndexFunc(string(p[2:]), func(r rune) bool { return r >= '@' && r <= '~' }); end >= 0 {
			return 3 + end
		}
		return 0
	case p[1] == 'O' && len(p) < 3:
		return 0
	case p[1] == 'O':
		return 3
	case p[1] == '\x1b':
		return 1
	}
	return 2
}

// pickerKeys reads keys one after the other. No more is read of the terminal before the last key was answered by next:
// what is typed behind a choice belongs to what was chosen.
type pickerKeys struct {
	pressed chan pickerKey
	failed  chan error
	more    chan bool
	ended   chan struct{}
	quit    chan struct{}
}

func newPickerKeys(tty *tty) *pickerKeys {
	k := &pickerKeys{make(chan pickerKey), make(chan error, 1), make(chan bool), make(chan struct{}),
		make(chan struct{})}
	go func() {
		defer close(k.ended)
		if err := k.read(tty); err != nil && !errors.Is(err, io.EOF) {
			k.failed <- err
		}
	}()
	return k
}

// next says that the last key was dealt with, and whether it was the last of all.
func (k *pickerKeys) next(last bool) {
	select {
	case k.more <- !last:
	case <-k.ended:
	}
}

// stop ends the reading; tty.stop was called before.
func (k *pickerKeys) stop() {
	close(k.quit)
	<-k.ended
}

func (k *pickerKeys) read(tty *tty) error {
	buf := make([]byte, typedPiece)
	var open []byte // of a key whose rest has not come
	pasting := false
	for {
		limit := time.Duration(-1)
		if len(open) > 0 {
			limit = escapePause
		}
		n, err := tty.read(buf, limit)
		if err != nil {
			return err
		}
		open = append(open, buf[:n]...)
		for len(open) > 0 {
			first := firstKey
			if pasting {
				first = firstPasted
			}
			key, length := first(open)
			if length == 0 && n > 0 && len(open) < typedPiece {
				break
			}
			if length == 0 && !pasting { // nothing more came
				key = namedKeys[string(open)]
			}
			if length == 0 {
				length = len(open)
			}
			switch string(open[:length]) {
			case beginPaste:
				pasting = true
			case endPaste:
				pasting = false
			}
			open = open[length:]
			if !k.send(key) {
				return nil
			}
		}
	}
}

// send hands a key on and reports whether another one is wanted.
func (k *pickerKeys) send(key pickerKey) bool {
	select {
	case k.pressed <- key:
	case <-k.quit:
		return false
	}
	select {
	case more := <-k.more:
		return more
	case <-k.quit:
		return false
	}
}
