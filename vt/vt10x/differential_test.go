package vt10x_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
)

// outcome is all that an engine is and did.
type outcome struct {
	frame         *vt.Frame
	text, replies string
	held          int
	effects       []string
}

// played writes in to a new engine, in pieces of n bytes.
func played(newEngine vt.EngineFunc, cols, rows, n int, in []byte) outcome {
	var o outcome
	add := func(format string, args ...any) { o.effects = append(o.effects, fmt.Sprintf(format, args...)) }
	e := newEngine(vt.Config{Cols: cols, Rows: rows, Scrollback: 10, Unicode: vt.Unicode11, Effects: &vt.Effects{
		Reply:     func(p []byte) { o.replies += string(p) },
		Bell:      func() { add("bell") },
		Title:     func(t string) { add("title %q", t) },
		Cwd:       func(host, p string) { add("cwd %q %q", host, p) },
		Clipboard: func(sel string, d []byte) { add("clipboard %q %q", sel, d) },
		Notify:    func(n vt.Notification) { add("notify %q %q", n.Title, n.Body) },
		Prompt:    func(m vt.PromptMark) { add("prompt %c %d", m.Kind, m.Exit) },
	}})
	var text []byte
	for part := range slices.Chunk(in, n) {
		text = append(text, e.Write(part)...)
	}
	o.frame, o.text, o.held = e.Freeze(), string(text), e.Held()
	return o
}

// disagreement says where the two engines differ about an input; "" when they
// do not.
func disagreement(cols, rows, n int, in []byte) string {
	native, other := played(vt.NewEngine, cols, rows, n, in), played(vt10x.New, cols, rows, n, in)
	out := snapshot.Differences(forgetful(native.frame), forgetful(other.frame))
	out = append(out, lineDifferences("history", native.frame.History.Slice(), other.frame.History.Slice())...)
	out = append(out, lineDifferences("main screen", native.frame.Main.Lines, other.frame.Main.Lines)...)
	if native.frame.Alt != nil && other.frame.Alt != nil {
		out = append(out, lineDifferences("alternate screen", native.frame.Alt.Lines, other.frame.Alt.Lines)...)
	}
	for _, p := range []struct{ what, native, other string }{
		{"REP repeats", string(native.frame.LastChar), string(other.frame.LastChar)},
		{"viewers get", linkless(native.text), linkless(other.text)},
		{"replies", native.replies, other.replies},
		{"effects", strings.Join(native.effects, ", "), strings.Join(other.effects, ", ")},
		{"bytes held", strconv.Itoa(native.held), strconv.Itoa(other.held)},
	} {
		if p.native != p.other {
			out = append(out, fmt.Sprintf("%s: native %q, vt10x %q", p.what, p.native, p.other))
		}
	}
	return strings.Join(out, "\n")
}

var links = regexp.MustCompile("\x1b\\]8;[^\a\x1b]*(\a|\x1b\\\\)")

// linkless is text without links: the native engine opens some again for viewers.
func linkless(text string) string { return links.ReplaceAllString(text, "") }

// forgetful is f without the character that REP repeats: Differences is about
// snapshots, which cannot always carry it.
func forgetful(f *vt.Frame) *vt.Frame {
	g := *f
	g.LastChar = 0
	return &g
}

// lineDifferences compares texts and wrap flags, all of them: Differences leaves
// out what no viewer can see.
func lineDifferences(what string, native, other []vt.Line) (out []string) {
	if len(native) != len(other) {
		return []string{fmt.Sprintf("%s: native %d lines, vt10x %d", what, len(native), len(other))}
	}
	for i, l := range native {
		if o := other[i]; l.Text() != o.Text() || l.Wrapped() != o.Wrapped() {
			out = append(out, fmt.Sprintf("%s, line %d: native %q wrapped %t, vt10x %q wrapped %t", what, i, l.Text(),
				l.Wrapped(), o.Text(), o.Wrapped()))
		}
	}
	return out
}

// shared is in without what vt10x's package comment excepts: characters that are
// not one cell wide, the kitty keyboard protocol and DECRQCRA. Bytes that are not
// UTF-8 and controls stay.
func shared(in []byte) []byte {
	var out []byte
	kitty, rectangle := false, false
	for len(in) > 0 {
		c, size := utf8.DecodeRune(in)
		part := in[:size]
		in = in[size:]
		switch {
		case c == 0x1b || c == 0x9b:
			kitty, rectangle = false, false
		case c == '<' || c == '=' || c == '>':
			kitty = true
		case c == '*':
			rectangle = true
		case c == 'u' && kitty, c == 'y' && rectangle:
			part = []byte{'v'} // nothing with these prefixes
		case size > 1 && !narrow(c):
			part = []byte{'x'}
		}
		out = append(out, part...)
	}
	return out
}

// narrow is true for controls and some characters that are one cell wide by
// every table.
func narrow(c rune) bool {
	return c < 0x300 && c != 0xad || c >= 0x400 && c < 0x483 || c >= 0x2500 && c < 0x25a0 || c == utf8.RuneError
}

// FuzzAgainstNative: in what both engines know they are equal, in state, text,
// replies and effects.
func FuzzAgainstNative(f *testing.F) {
	for seed := range uint64(20) {
		w := &program{Rand: rand.New(rand.NewPCG(seed, 3)), cols: 10, rows: 4}
		f.Add(bytes.Join(w.tokens(), nil), uint8(10), uint8(4), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte, cols, rows, step uint8) {
		if len(in) > 4096 {
			return
		}
		if d := disagreement(int(cols)%40+1, int(rows)%12+1, int(step)%64+1, shared(in)); d != "" {
			t.Fatalf("%q:\n%s", shared(in), d)
		}
	})
}

// TestAgainstNative is FuzzAgainstNative with random programs, always the same.
// What fails is made small.
func TestAgainstNative(t *testing.T) {
	for seed := range uint64(10_000) {
		w := &program{Rand: rand.New(rand.NewPCG(seed, 4))}
		w.cols, w.rows = 1+w.IntN(30), 1+w.IntN(8)
		step := []int{1, 7, 4096}[w.IntN(3)]
		tokens := w.tokens()
		differ := func(tokens [][]byte) string {
			return disagreement(w.cols, w.rows, step, shared(bytes.Join(tokens, nil)))
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
	const finals = "@ABCDEFGHHIJJKKLMPSTXZ`abdefgr"
	switch w.IntN(12) {
	case 0, 1, 2:
		return strings.Repeat("abc xyz{|}~_#`", 2+w.cols/7)[w.IntN(10):][:1+w.IntN(w.cols+3)]
	case 3:
		return w.pick("é", "─", "│", "Ж", "ß", "█", "\u00a0", "\xff", "\xe2\x94", "\xc3", "éèê", "┌──┐")
	case 4, 5:
		return w.pick("\r\n", "\r\n", "\r\n", "\n", "\r", "\b", "\b\b", "\t", "\v", "\f", "\a", "\x00", "\x0e", "\x0f",
			"\x7f", "\x18", "\x1a", "\x05", "\u0084", "\u0085", "\u0088", "\u008d")
	case 6, 7:
		return "\x1b[" + w.numbers() + string(finals[w.IntN(len(finals))])
	case 8:
		return "\x1b[" + w.pick("", "1", "7", "31", "42", "38;5;9", "48;2;1;2;3", "4:3", "58:5:1", "0", "9;53", "22;27",
			w.numbers()) + "m"
	case 9:
		return "\x1b[" + w.pick("4", "20", "?1", "?5", "?6", "?7", "?25", "?45", "?47", "?1047", "?1048", "?1049",
			"?1000", "?1006", "?2004", "?1004", "?2026") + w.pick("h", "h", "l")
	case 10:
		return w.pick("\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1bD", "\x1bE", "\x1bM", "\x1bH", "\x1bc", "\x1b[!p",
			"\x1b#8", "\x1b=", "\x1b>", "\x1b(0", "\x1b(B", "\x1b)0", "\x1bn", "\x1b[1\"q", "\x1b[0\"q",
			"\x1b[?J", "\x1b[?1K", "\x1b['}", "\x1b[2'~", "\x1b[ @", "\x1b[2 A", "\x1b[4 q", "\x1b[3g")
	}
	return w.pick("\x1b]2;t\a", "\x1b]8;;http://x\x1b\\", "\x1b]8;;\a", "\x1b]4;1;#123456\a", "\x1b]11;rgb:1/2/3\a",
		"\x1b]10;?\a", "\x1b]104\a", "\x1b]7;file://h/d\a", "\x1b]52;c;aGk=\a", "\x1b]133;D;1\a", "\x1bPq#0\x1b\\",
		"\x1bP$qm\x1b\\", "\x1bP+q544e\x1b\\", "\x1b_x\x1b\\",
		"\x1b[c", "\x1b[>c", "\x1b[6n", "\x1b[?6n", "\x1b[5n", "\x1b[?7$p", "\x1b[4$p", "\x1b[18t", "\x1b[14t",
		"\x1b[?u", "\x1b[>q", "\x1bZ", "x\x1b[3b", "x\x1b[99999b", "\x1b[b", "\x1b[1;3", "\x1b]0;half", "\x1b",
		"\x1b[1\n2C", "\u009b2C")
}

// numbers are parameters: none, small ones, at the edges, and far beyond.
func (w *program) numbers() string {
	one := func() string {
		return w.pick("", "", "0", "1", "2", "3", strconv.Itoa(w.IntN(w.cols+2)), strconv.Itoa(w.IntN(w.rows+2)), "999",
			"2147483648", "99999999999999999999")
	}
	if w.IntN(2) == 0 {
		return one()
	}
	return one() + ";" + one()
}
