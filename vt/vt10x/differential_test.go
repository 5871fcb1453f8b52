package vt10x_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
)

// disagreement says where the two engines differ about an input; "" when they do not. Wrap flags
// and the style of blanks at the end of a line are the library's own.
func disagreement(cols, rows, n int, in []byte) string {
	var shown [2]string
	for i, newEngine := range []vt.EngineFunc{vt.NewEngine, vt10x.New} {
		e := newEngine(vt.Config{Cols: cols, Rows: rows, Scrollback: 10})
		for part := range slices.Chunk(in, n) {
			e.Write(part)
		}
		f := e.Freeze()
		s := f.Active()
		shown[i] = fmt.Sprintf("%d,%d %v\n", s.X, s.Y, s.PendingWrap)
		for _, l := range slices.Concat(f.History.Slice(), s.Lines) {
			shown[i] += l.Text() + "\n"
			for span := range l.Spans() {
				style := span.Style
				style.Link = vt.Link{}
				if style != (vt.Style{}) {
					cells := len(strings.ReplaceAll(span.Text, " ", ""))
					shown[i] += strings.Repeat(fmt.Sprintf("  %+v\n", style), cells)
				}
			}
		}
	}
	if shown[0] == shown[1] {
		return ""
	}
	return fmt.Sprintf("native:\n%s\nvt10x:\n%s", shown[0], shown[1])
}

// TestAgainstNative: of output that the library knows, both engines show the same. What fails is
// made small.
func TestAgainstNative(t *testing.T) {
	for seed := range uint64(5_000) {
		w := &program{Rand: rand.New(rand.NewPCG(seed, 4))}
		w.cols, w.rows = 2+w.IntN(30), 1+w.IntN(8)
		step := []int{1, 7, 4096}[w.IntN(3)]
		tokens := w.tokens()
		differ := func(tokens [][]byte) string {
			return disagreement(w.cols, w.rows, step, bytes.Join(tokens, nil))
		}
		if differ(tokens) == "" {
			continue
		}
		for i := len(tokens) - 1; i >= 0; i-- {
			if less := slices.Delete(slices.Clone(tokens), i, i+1); differ(less) != "" {
				tokens = less
			}
		}
		t.Fatalf("seed %d, %dx%d in pieces of %d: %q\n%s", seed, w.cols, w.rows, step, tokens, differ(tokens))
	}
}

// program makes random output in tokens.
type program struct {
	*rand.Rand
	cols, rows int
}

func (w *program) pick(from ...string) string { return from[w.IntN(len(from))] }

func (w *program) tokens() (out [][]byte) {
	for range 1 + w.IntN(40) {
		out = append(out, []byte(w.token()))
	}
	return out
}

func (w *program) token() string {
	const finals = "ABCDEFGHKLMPSXZ`adef@"
	switch w.IntN(10) {
	case 0, 1, 2:
		return strings.Repeat("abc xyz{|}~_#`", 2+w.cols/7)[w.IntN(10):][:1+w.IntN(w.cols+3)]
	case 3:
		return w.pick("é", "─", "│", "Ж", "ß", "█", "éèê", "┌──┐")
	case 4, 5:
		return w.pick("\r\n", "\r\n", "\r\n", "\n", "\r", "\r\t", "\v", "\f", "\a", "\x00", "\x7f", "\u0085")
	case 6, 7:
		return "\r\x1b[" + w.pick("", "1", "2", "3", strconv.Itoa(1+w.IntN(w.cols)), "999") +
			string(finals[w.IntN(len(finals))])
	case 8:
		return "\x1b[" + w.pick("", "1", "3", "31", "42", "38;5;200", "48;2;1;2;3", "7", "27", "22", "23") + "m"
	}
	return w.pick("\r\x1b7\x1b[m\x1b8", "\r\x1bM", "\x1bc", "\r\x1b[J", "\x1b[2J", "\r\x1b[1K", "\x1b(0qx\x1b(B",
		"\x1b)0",
		"x\x1b[3b",
		"\x1b]2;t\a", "\x1b]8;;http://x\x1b\\", "\x1b]52;c;aGk=\a", "\x1bP$qm\x1b\\", "\x1b_x\x1b\\", "\x1b[c",
		"\x1b[6n",
		"\x1b[?1049h\x1b[2J\x1b[H", "\x1b[?2004h", "\x1b[>4;1m", "\x1b[>1u", "\x1b[<u", "\x1b[2 q", "\x1b[?u",
		"\x1b[!p",
		"\x1b[1;3\x18", "\x1b[9\u4e49")
}
