package vt10x

import (
	"bytes"
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
		if s.X == s.Cols {
			if e.modes.Autowrap {
				e.wrap()
			} else {
				_, last := utf8.DecodeLastRune(t) // the others would be overwritten
				t, s.X = t[len(t)-last:], s.Cols-1
			}
		}
		n := min(len(t), s.Cols-s.X)
		size := n
		if !ascii {
			size, n = cells(t, s.Cols-s.X)
		}
		if e.modes.Insert {
			s.insert(s.X, s.Y, n, erased)
		}
		s.put(s.X, s.Y, t[:size], n, e.look())
		s.X += n
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
	s.X = 0
	if s.Index() {
		e.scroll()
	}
	s.row[s.Y].wrapped = true
}

// scroll moves the scroll region up by a line. The line that leaves the main
// screen at its top becomes history.
func (e *engine) scroll() {
	s := e.cur
	if s == e.main && s.Top == 0 {
		e.hist.push(s.line(0, e.looks, &e.packer))
		e.shrinkHistory()
	}
	s.scrollUp(s.Top, s.Bottom, 1, e.blank())
}

// repeat implements REP (ECMA-48 8.3.103), at most a screen full. Without a
// character before it nothing happens, and viewers do not get it either: theirs
// may know a character that a query cut from their text has made us forget.
func (e *engine) repeat() {
	if e.in.Last == 0 {
		e.in.Cut()
		return
	}
	n := e.in.Times(e.cur.Cols * e.cur.Rows)
	e.print(bytes.Repeat([]byte(string(e.in.Last)), n), false)
}
