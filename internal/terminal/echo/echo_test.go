package echo

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// output prints text at position from, as a screen reports it: characters and controls.
func output(f *Filter, from uint64, text string) (after uint64) {
	for _, r := range text {
		n := uint64(len(string(r)))
		if r < ' ' {
			f.Control(r)
		} else {
			f.Print([]byte(string(r)), from)
		}
		from += n
	}
	return from
}

// masked is the text of a line that was printed at position from, with # for echo.
func masked(f *Filter, text string, from uint64) string {
	l := vt.TextLine{Text: []byte(text)}
	for i := range l.Text {
		l.Offsets = append(l.Offsets, from+uint64(i)+1)
	}
	return strings.ReplaceAll(string(f.Mask(l)), "\x00", "#")
}

// TestEchoIsMasked: what was typed is masked where it is printed again, once, or until its line ends.
func TestEchoIsMasked(t *testing.T) {
	const at = 10
	for name, c := range map[string]struct {
		typed  []string
		hidden bool   // the terminal does not echo
		before string // printed before the line
		line   string
		want   string
	}{
		"all":                   {typed: []string{"ls"}, line: "ls", want: "##"},
		"with what follows":     {typed: []string{"ls"}, line: "ls: x", want: "##: x"},
		"behind a prompt":       {typed: []string{"ls"}, line: "$ ls", want: "$ ##"},
		"a part, so far":        {typed: []string{"make"}, line: "ma", want: "##"},
		"a part, then other":    {typed: []string{"make"}, line: "max", want: "max"},
		"again from the start":  {typed: []string{"aab"}, line: "aacaab", want: "aac###"},
		"another text":          {typed: []string{"ls"}, line: "cat", want: "cat"},
		"a password":            {typed: []string{"ls"}, hidden: true, line: "ls", want: "ls"},
		"two pieces":            {typed: []string{"ab\rcd\r"}, line: "abcd", want: "####"},
		"one piece in two":      {typed: []string{"a", "b"}, line: "ab", want: "##"},
		"apart by a key":        {typed: []string{"a\x1b[Ab"}, line: "axb", want: "#x#"},
		"apart by an SS3":       {typed: []string{"a\x1bOAb"}, line: "axb", want: "#x#"},
		"apart by an ESC":       {typed: []string{"a\x1bfb"}, line: "axb", want: "#x#"},
		"beyond ASCII":          {typed: []string{"é"}, line: "é", want: "##"},
		"after its line":        {typed: []string{"ls"}, before: "ls\n", line: "ls", want: "ls"},
		"another line before":   {typed: []string{"ls"}, before: "x\n", line: "ls", want: "##"},
		"a redrawn line":        {typed: []string{"ls"}, before: "ls\r", line: "ls", want: "##"},
		"a margin in the text":  {typed: []string{"ab"}, before: "a \r", line: "b", want: "#"},
		"a return in the text":  {typed: []string{"ab"}, before: "a\r", line: "b", want: "b"},
		"two blanks in between": {typed: []string{"ab"}, before: "a  ", line: "b", want: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			var typed Typed
			for _, p := range c.typed {
				typed.Note([]byte(p), at, !c.hidden)
			}
			f := NewFilter(&typed, at)
			from := output(f, at, c.before)
			output(f, from, c.line)
			if got := masked(f, c.line, from); got != c.want {
				t.Errorf("%q is %q, want %q", c.line, got, c.want)
			}
		})
	}
}

// TestEchoHasAPlace: text that was shown before it was typed is no echo, nor much later.
func TestEchoHasAPlace(t *testing.T) {
	var typed Typed
	typed.Note([]byte("ls"), 10, true)
	if f := NewFilter(&typed, 10); masked(f, "ls", 10) != "ls" {
		t.Error("what was not printed since is masked")
	}
	f := NewFilter(&typed, 5)
	output(f, 8, "ls") // it was on its way when the text was typed
	if got := masked(f, "ls", 8); got != "ls" {
		t.Errorf("output of before the input: %q", got)
	}
	output(f, 10, "ls")
	if got := masked(f, "xls", 9); got != "x##" {
		t.Errorf("the echo: %q", got)
	}
	if f := NewFilter(&typed, 11); len(f.pieces) != 0 {
		t.Error("a filter for later output waits for earlier input")
	}
	f.Update(10 + echoWithin)
	if list, _ := typed.since(10 + echoWithin); len(list) != 1 {
		t.Error("the input is forgotten too early")
	}
	if list, _ := typed.since(11 + echoWithin); len(list) != 0 {
		t.Error("the input is never forgotten")
	}
}

// TestAFilterLearns: input that comes later is an echo too, also the rest of a text.
func TestAFilterLearns(t *testing.T) {
	var typed Typed
	typed.Note([]byte("a"), 10, true)
	f := NewFilter(&typed, 10)
	output(f, 10, "a")
	typed.Note([]byte("b"), 11, true)
	f.Update(11)
	output(f, 11, "b")
	if got := masked(f, "ab", 10); got != "##" {
		t.Errorf("the rest of a text: %q", got)
	}
	typed.Note([]byte("\rcd"), 12, true)
	f.Update(12)
	output(f, 12, "cd")
	if got := masked(f, "cd", 12); got != "##" {
		t.Errorf("another text: %q", got)
	}
	var none *Filter
	none.Update(1)
	none.Print([]byte("x"), 1)
	none.Control('\n')
	if got := masked(none, "ab", 10); got != "ab" {
		t.Errorf("no filter: %q", got)
	}
}

// TestTypedIsBounded: of much input the newest is remembered.
func TestTypedIsBounded(t *testing.T) {
	var typed Typed
	for i := range maxPieces + 2 {
		typed.Note(fmt.Appendf(nil, "p%d\r", i), 1, true)
	}
	list, _ := typed.since(1)
	if len(list) != maxPieces || string(list[0].text) != "p2" || string(list[maxPieces-1].text) != fmt.Sprint("p", maxPieces+1) {
		t.Errorf("%d pieces, from %q", len(list), list[0].text)
	}
	typed.Note([]byte(strings.Repeat("x", maxText+10)), 1, true)
	typed.Note([]byte("y"), 1, true)
	list, _ = typed.since(1)
	if n := len(list); len(list[n-2].text) != maxText || string(list[n-1].text) != "y" {
		t.Errorf("a long text has %d bytes, then %q", len(list[n-2].text), list[n-1].text)
	}
	f := NewFilter(&Typed{}, 0)
	for i := range uint64(maxSpans + 1) {
		f.add(span{2 * i, 2*i + 1})
	}
	f.add(span{2 * maxSpans, 2*maxSpans + 9}) // the last one has grown
	if len(f.spans) != maxSpans || f.spans[0].from != 2 || f.spans[maxSpans-1].to != 2*maxSpans+9 {
		t.Errorf("%d spans from %d to %d", len(f.spans), f.spans[0].from, f.spans[len(f.spans)-1].to)
	}
}

// TestWithin: the newest text counts.
func TestWithin(t *testing.T) {
	var typed Typed
	if at, seq := typed.Last(); !at.IsZero() || seq != 0 || typed.Within(100, 0) {
		t.Error("nothing was typed")
	}
	typed.Note([]byte("a"), 50, true)
	if _, seq := typed.Last(); seq != 50 || !typed.Within(10, 59) || typed.Within(10, 60) {
		t.Errorf("typed at %d", seq)
	}
}
