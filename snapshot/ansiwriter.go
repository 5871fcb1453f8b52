package snapshot

import (
	"fmt"
	"io"
	"strconv"

	"github.com/evertty/evertty/vt"
)

// ansiWriter writes characters and control sequences. It keeps the pen of the terminal that reads
// them, and knows nothing of rows.
type ansiWriter struct {
	out    []byte
	spills io.Writer // gets out from time to time; nil: it stays there
	failed error     // the first error of spills

	penState
}

// penState is the state of the receiver that printed text depends on.
type penState struct {
	pen      vt.Style
	locked   bool // only colours and attributes of the pen may change
	set      byte // the character set in force, which must not change; 0 for US ASCII
	clusters bool // widths count grapheme clusters
}

func (a *ansiWriter) add(s string) { a.out = append(a.out, s...) }

// text prints characters as they have to come in the set in force.
func (a *ansiWriter) text(s string) {
	if a.set != 0 {
		s, _ = vt.Untranslate(a.set, s)
	}
	a.add(s)
}

func (a *ansiWriter) num(n int) { a.out = strconv.AppendInt(a.out, int64(n), 10) }

// csi writes CSI n final; a count of 1 is the default and left out.
func (a *ansiWriter) csi(n int, final byte) {
	a.add("\x1b[")
	if n != 1 {
		a.num(n)
	}
	a.out = append(a.out, final)
}

// moveTo is CUP (ECMA-48 8.3.21) to a column and row from 0.
func (a *ansiWriter) moveTo(x, y int) {
	switch {
	case x > 0:
		a.out = fmt.Appendf(a.out, "\x1b[%d;%dH", y+1, x+1)
	case y > 0:
		a.out = fmt.Appendf(a.out, "\x1b[%dH", y+1)
	default:
		a.add("\x1b[H")
	}
}

// spill writes out to spills when it has more than keep bytes. The last character
// stays unless keep is 0: joins reads it.
func (a *ansiWriter) spill(keep int) {
	if a.spills == nil || len(a.out) <= keep {
		return
	}
	n := len(a.out)
	if keep > 0 {
		for n--; n > 0 && a.out[n]&0xc0 == 0x80; n-- {
		}
	}
	if a.failed == nil {
		_, a.failed = a.spills.Write(a.out[:n])
	}
	a.out = a.out[:copy(a.out, a.out[n:])]
}
