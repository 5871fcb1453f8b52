package vt10x

import "unicode/utf8"

// print shows a run of characters, each one cell wide.
func (e *engine) print(t []byte) {
	if e.charset != ascii {
		t = translate(t, e.charset)
	}
	e.last, _ = utf8.DecodeLastRune(t)
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
		size, n := cells(t, s.cols-s.x)
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
	if len(t) <= limit && isASCII(t) {
		return len(t), len(t)
	}
	for size < len(t) && n < limit {
		if t[size] < utf8.RuneSelf {
			size++
		} else {
			_, w := utf8.DecodeRune(t[size:])
			size += w
		}
		n++
	}
	return size, n
}

func isASCII(t []byte) bool {
	for _, c := range t {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
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
	last := e.last
	if last == 0 {
		e.cut()
		return
	}
	n := e.count(e.cur.cols * e.cur.rows)
	var run [256]byte
	t := run[:0]
	for ; n > 0; n-- {
		t = utf8.AppendRune(t, last)
		if len(t) > len(run)-utf8.UTFMax || n == 1 {
			e.print(t)
			t = t[:0]
		}
	}
}
