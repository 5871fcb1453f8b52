package vt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// TestRectanglesAreBounded: what viewers get for an operation on a rectangle has a
// limit, also where every second cell is protected.
func TestRectanglesAreBounded(t *testing.T) {
	const most = 17 << 10 // bytes: the bound and one row's overhang
	e := vt.NewEngine(vt.Config{Cols: vt.MaxSize, Rows: vt.MaxSize})
	e.Write([]byte(strings.Repeat("\x1b[1\"qa\x1b[0\"qb", vt.MaxSize*vt.MaxSize/2)))
	for _, sequence := range []string{"\x1b[$z", "\x1b[37$x", "\x1b[1\"qx\x1b[${", "\x1b[4h\x1b[37;1;1;1000;1000$x"} {
		if text := e.Write([]byte(sequence)); len(text) > most {
			t.Errorf("%q becomes %d bytes", sequence, len(text))
		}
	}
}

// TestResume: what no viewer shows survives a snapshot through Resume alone.
func TestResume(t *testing.T) {
	old := vt.NewEngine(vt.Config{Cols: 20, Rows: 2})
	old.Write([]byte("\x1b[?4;42h\x1b[?2004h\x1b[?2004s\x1b[?2004l\x1b]5;1;#102030\a"))
	var replies []byte
	e := vt.NewEngine(vt.Config{Cols: 20, Rows: 2, Effects: &vt.Effects{Reply: func(p []byte) {
		replies = append(replies, p...)
	}}})
	e.Resume(old.Freeze())
	e.Write([]byte("\x1b[?4$p\x1b[?42$p\x1b[?18$p\x1b[?2004r\x1b[?2004$p\x1b]5;1;?\a"))
	const want = "\x1b[?4;1$y\x1b[?42;1$y\x1b[?18;2$y\x1b[?2004;1$y\x1b]5;1;rgb:1010/2020/3030\x1b\\"
	if string(replies) != want {
		t.Errorf("%q, want %q", replies, want)
	}
}

// TestRectanglesTwice: a change that is on the screen already is not made again, which changes
// nothing, also for viewers: it is as if each row had something to change.
func TestRectanglesTwice(t *testing.T) {
	before := []string{"", "abc\x1b[2;5Hdef", "日本\x1b[3;1H\x1b[1\"qkept\x1b[\"q", "\x1b[41mx\x1b[2;2Hy", "\x1b[31m",
		"\x1b#8", "\x1b]8;;http://x\x1b\\link", "0123456789wrapped", "\x1b[?1049habc"}
	others := "\x1b7"
	for y := range 4 {
		others += fmt.Sprintf("\x1b[%d;8Hq", y+1)
	}
	others += "\x1b8"
	for _, prepare := range before {
		for _, do := range []string{"\x1b[$z", "\x1b[${", "\x1b[46;$x", "\x1b[32;$x", "\x1b[44m\x1b[$z",
			"\x1b[44m\x1b[46;$x", "\x1b#8", "\x1b[2J"} {
			for _, again := range []string{do, "z" + do, "\x1b[0m" + do, "\x1b[42m" + do, "\x1b[3;9H" + do} {
				c := vt.Config{Cols: 10, Rows: 4, Scrollback: 10}
				e, viewer, changed := vt.New(c), vt.New(c), vt.New(c)
				viewer.Write(e.Write([]byte(prepare + do)))
				viewer.Write(e.Write([]byte(again + "\x1b7")))
				changed.Write([]byte(prepare + do + others + again + "\x1b7"))
				for what, f := range map[string]*vt.Frame{"viewers": viewer.Freeze(), "another": changed.Freeze()} {
					f.LastChar = e.Freeze().LastChar
					if d := snapshot.Differences(e.Freeze(), f); d != nil {
						t.Errorf("%q, %q, then %q: %s have %s", prepare, do, again, what, d)
					}
				}
			}
		}
	}
}
