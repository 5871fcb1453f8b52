package vt_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// colouredLines are n lines as programs log them, some of which wrap.
func colouredLines(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "\x1b[2m%06d\x1b[0m \x1b[1;3%dmERROR\x1b[0m \x1b[38;5;%dm日本 naïve\x1b[0m %s\r\n",
			r.IntN(1e6), r.IntN(8), r.IntN(256), strings.Repeat("word ", r.IntN(20)))
	}
	return b.String()
}

// TestCompact: an engine whose history is compressed again and again has the same lines as one whose
// history never is, whatever happens to them.
func TestCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, memory := range []int{0, vt.MinMemory} {
		cfg := vt.Config{Cols: 80, Rows: 24, Scrollback: 5000, Memory: memory}
		plain, packed := vt.New(cfg), vt.New(cfg)
		both := [2]vt.Engine{plain, packed}
		for step := range 120 {
			text := colouredLines(r, r.IntN(400))
			switch r.IntN(12) {
			case 0:
				text += "\x1b[H\x1b[2J\x1b[3J"
			case 1:
				text += "\x1b[1;1H\x1b[1J"
			case 2:
				text += "\x1b[?1049h\x1b[?1049l"
			}
			cols := 40 + r.IntN(80)
			for _, e := range both {
				e.Write([]byte(text))
				if step%10 == 9 {
					e.Resize(cols, 24)
				}
			}
			before := packed.Freeze()
			freed := before.History.Compact()
			if m, p := packed.Memory(), plain.Memory(); freed > 0 && m >= p {
				t.Errorf("step %d: %d bytes, not less than %d", step, m, p)
			}
			if step%7 == 0 {
				runtime.GC() // what was read is read anew
			}
			if err := vt.Check(packed); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			want := plain.Freeze().History
			for _, got := range []vt.Lines{before.History, packed.Freeze().History} {
				if got.Size() != want.Size() || !slices.Equal(got.Slice(), want.Slice()) {
					t.Fatalf("step %d: the histories differ", step)
				}
			}
			if i := r.IntN(want.Len() + 1); i < want.Len() && before.History.At(i) != want.At(i) {
				t.Errorf("step %d: line %d differs", step, i)
			}
			scanned := 0
			for l := range before.History.Scan() {
				if want.Len() < 500 && l != want.At(scanned) {
					t.Errorf("step %d: scanned line %d differs", step, scanned)
				}
				scanned++
			}
			if scanned != want.Len() {
				t.Errorf("step %d: scanned %d lines of %d", step, scanned, want.Len())
			}
		}
	}
}

// TestCompactIncompressible: a block that compressing does not make smaller stays as it is.
func TestCompactIncompressible(t *testing.T) {
	e := vt.New(vt.Config{Cols: 80, Rows: 24, Scrollback: 5000})
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		line := make([]byte, 70)
		for i := range line {
			line[i] = byte('!' + r.IntN(94))
		}
		e.Write(append(line, "\r\n"...))
	}
	before := e.Memory()
	if freed := e.Freeze().History.Compact(); freed != 0 || e.Memory() != before {
		t.Errorf("freed %d of %d bytes", freed, before)
	}
}
