package snapshot

import (
	"bytes"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// openTail returns vt.Unfinished of at most the first vt.MaxPending bytes of p, cut between
// characters. What stands before it was complete, so it is part of the state already.
func openTail(p []byte) []byte {
	if len(p) > vt.MaxPending {
		p = p[:vt.MaxPending]
		for len(p) > 0 && !utf8.RuneStart(p[len(p)-1]) {
			p = p[:len(p)-1]
		}
		p = p[:max(0, len(p)-1)]
	}
	return vt.Unfinished(p)
}

// settled drops from an open tail a string that its last byte, ESC, has ended
// for xterm.js, which acts at the ESC. A frame from a file gets no such effect.
func settled(tail []byte) []byte {
	if i := bytes.LastIndexByte(tail, 0x1b); i >= 0 {
		return tail[i:]
	}
	return tail
}
