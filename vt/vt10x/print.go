package vt10x

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// print shows a run of characters, each one cell wide. ascii tells that every
// byte is one.
func (e *engine) print(t []byte, ascii bool) {
	if !e.charsets.ASCII() {
		t, ascii = e.charsets.Translate(t), false
	}
	e.in.Last, _ = utf8.DecodeLastRune(t)
	for len(t) > 0 {
		s := e.cur
		if s.x == s.cols {
			if e.modes.Autowrap {
				e.wrap()
			} else {
				_, last := utf8.DecodeLastRune(t) // the others would be overwritten
				t, s.x = t[len(t)-last:], s.cols-1
			}
		}
		n := min(len(t), s.cols-s.x)
		size := n
		if !ascii {
			size, n = cells(t, s.cols-s.x)
		}
		if e.modes.Insert {
			s.insert(s.x, s.y, n, erased)
		}
		s.put(s.x, s.y, t[:size], n, e.look())
		s.x += n
		t = t[size:]
	}
}

// cells measures the beginning of t: at most limit characters, n of them in size bytes.
func cells(t []byte, limit int) (size, n int) {
	for size < len(t) && n < limit {
		_, w := utf8.DecodeRune(t[size:])
		size += w
		n++
	}
	return size, n
}

// wrap goes to the next line because a character does not fit (DECAWM, VT510).
func (e *engine) wrap() {
	s := e.cur
	s.x = 0
	if s.y == s.bottom {
		e.scroll()
	} else {
		s.y = min(s.y+1, s.rows-1)
	}
	s.row[s.y].wrapped = true
}

// scroll moves the scroll region up by a line. The line that leaves the main
// screen at its top becomes history.
func (e *engine) scroll() {
	s := e.cur
	if s == e.main && s.top == 0 {
		e.hist.push(s.line(0, e.looks, &e.packer))
	}
	s.scrollUp(s.top, s.bottom, 1, e.blank())
}

// repeat implements REP (ECMA-48 8.3.103), at most a screen full. Without a
// character before it nothing happens, and viewers do not get it either: theirs
// may know a character that a query cut from their text has made us forget.
func (e *engine) repeat() {
	if e.in.Last == 0 {
		e.in.Cut()
		return
	}
	n := e.in.One(0)
	if limit := e.cur.cols * e.cur.rows; n > limit {
		n = limit
		e.in.ReplaceQuietly(fmt.Appendf(nil, "\x1b[%db", n)) // CAN would make viewers forget what to repeat
	}
	e.print(bytes.Repeat([]byte(string(e.in.Last)), n), false)
}
