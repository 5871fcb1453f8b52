package main

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

func TestLogLines(t *testing.T) {
	run := func(text string, cells int) wire.Line {
		l := wire.Line{Text: strings.TrimRight(text, " ")}
		l.Runs = append(l.Runs, wire.Run{Text: text, Cells: cells})
		return l
	}
	wrapped := func(l wire.Line) wire.Line { l.Wrapped = true; return l }
	s := wire.ScreenJSON{Cols: 4}
	s.Scrollback = []wire.Line{run("one", 3), run("abcd", 4)}
	s.Lines = []wire.Line{wrapped(run("ef", 2)), run("xy", 2), wrapped(run("z", 1)), run("$", 1), {}, {}}
	s.Cursor.X, s.Cursor.Y = 2, 3
	if got := strings.Join(logLines(s), "|"); got != "one|abcdef|xy  z|$ " {
		t.Errorf("%q", got)
	}
	s.Cursor.Y = 5
	if got := strings.Join(logLines(s), "|"); got != "one|abcdef|xy  z|$||  " {
		t.Errorf("%q", got)
	}
	s.Alt = true
	if got := strings.Join(logLines(s), "|"); got != "one|abcd" {
		t.Errorf("%q", got)
	}
	wide := wire.ScreenJSON{Cols: 4}
	wide.Lines = []wire.Line{run("abc", 3), wrapped(run("漢", 2)), run("abc", 3), wrapped(run("d", 1))}
	if got := strings.Join(joined(wide), "|"); got != "abc漢|abc d" {
		t.Errorf("%q", got)
	}
	if got := logLines(wire.ScreenJSON{}); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
