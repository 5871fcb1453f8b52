package vt

import (
	"encoding/binary"
	"math/bits"
)

// asciiRun is the length of the run of characters U+0020 to U+007E at the start
// of t, found eight bytes at a time.
func asciiRun(t []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(t); i += 8 {
		w := binary.LittleEndian.Uint64(t[i:])
		// High bit of a byte: set when it is below 0x20, equal to 0x7f, or not ASCII.
		// A borrow can only flag bytes above a flagged one, and the lowest counts.
		if bad := ((w - ones*0x20) | (w + ones) | w) & high; bad != 0 {
			return i + bits.TrailingZeros64(bad)/8
		}
	}
	for i < len(t) && t[i] >= ' ' && t[i] < 0x7f {
		i++
	}
	return i
}

// special marks the bytes at which a run of characters may end: controls, and
// the first bytes of a C1 control and of bom.
var special = func() (t [256]bool) {
	for c := range ' ' {
		t[c] = true
	}
	t[0x7f], t[0xc2], t[0xef] = true, true, true
	return t
}()

// plainRun is the length of the run of bytes at the start of t that are not special, found eight
// bytes at a time as in asciiRun.
func plainRun(t []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(t); i += 8 {
		w := binary.LittleEndian.Uint64(t[i:])
		del, c2, ef := w^ones*0x7f, w^ones*0xc2, w^ones*0xef
		if found := ((w-ones*0x20)&^w | (del-ones)&^del | (c2-ones)&^c2 | (ef-ones)&^ef) & high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(t) && !special[t[i]] {
		i++
	}
	return i
}

// textRun is the length of the run of characters at the start of t that are no
// controls.
func textRun(t []byte) int {
	for i := 0; ; i++ {
		i += plainRun(t[i:])
		switch {
		case i == len(t):
			return i
		case t[i] == 0xc2 && t[i+1] >= 0xa0:
		case t[i] == 0xef && (t[i+1] != 0xbb || t[i+2] != 0xbf):
		default:
			return i
		}
	}
}

// stringRun is textRun for the text of a string.
func stringRun(t []byte) int {
	n := asciiRun(t)
	return n + textRun(t[n:])
}
