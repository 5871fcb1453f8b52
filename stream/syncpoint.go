package stream

import "bytes"

// finding is what a part of the output says about the state of a parser behind it. A sync point is
// an ESC, CAN or SUB: there every parser is in a known state.
type finding struct {
	found       bool
	first       uint64 // the first sync point
	last        uint64
	terminators bool // behind last are BEL or C1 controls, which may end or begin a sequence
}

// observe adds the output p, which begins at position at and follows what was observed before.
func (f *finding) observe(p []byte, at uint64) {
	first, last := -1, -1
	for _, b := range []byte{0x1b, 0x18, 0x1a} { // ESC, CAN, SUB
		i := bytes.IndexByte(p, b)
		if i < 0 {
			continue
		}
		if first < 0 || i < first {
			first = i
		}
		last = max(last, bytes.LastIndexByte(p, b))
	}
	if first >= 0 {
		if !f.found {
			f.first = at + uint64(first)
		}
		f.found, f.last, f.terminators = true, at+uint64(last), false
		p = p[last:]
	}
	f.terminators = f.terminators || bytes.IndexByte(p, 0x07) >= 0 || hasC1(p)
}

// hasC1 reports whether p may have a C1 control, U+0080 to U+009F. It is also true when the last
// byte may be the first half of one.
func hasC1(p []byte) bool {
	for {
		i := bytes.IndexByte(p, 0xc2)
		if i < 0 {
			return false
		}
		if p = p[i+1:]; len(p) == 0 || p[0] < 0xa0 {
			return true
		}
	}
}
