//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// knownOuter is a user's terminal that knows all that we do, and answers.
func knownOuter(t *testing.T) *userTTY {
	t.Helper()
	u := newUserTTY(t)
	answers := make(chan []byte, 1000)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.screen = vt.NewEngine(vt.Config{Cols: 40, Rows: 8, Scrollback: 1000, Effects: &vt.Effects{
		Reply: func(p []byte) { answers <- p },
	}})
	go func() {
		for {
			select {
			case p := <-answers:
				_, _ = u.master.Write(p)
			case <-u.closed:
				return
			}
		}
	}()
	return u
}

// TestAttachLeavesNothing sends every sequence of docs/reference/sequences.md through attach, in a window
// of the terminal's size and of another one. The user's terminal is as it was then, and
// got nothing that could not be taken back.
func TestAttachLeavesNothing(t *testing.T) {
	rows := documented(t)
	if len(rows) < 150 {
		t.Fatalf("docs/reference/sequences.md has %d rows with scripts", len(rows))
	}
	for _, cols := range []uint16{40, 50} {
		s := newFakeServer(t)
		for _, r := range rows {
			u := knownOuter(t)
			u.mu.Lock()
			u.screen.Write([]byte("the user's own" + strings.Repeat("\r\n", 8)))
			u.mu.Unlock()
			before := u.frame()
			code, _ := u.evertty("attach", "t1")
			v := s.viewer()
			v.snapshot(cols, 8, "x")
			u.sees("x")
			for _, in := range r.inputs {
				v.data(in)
			}
			v.exit(0)
			within(t, code, "the end")
			u.left()
			if d := leftBehind(before, u.frame()); d != "" {
				t.Errorf("%d columns, %s: left behind: %s", cols, r.name, d)
			}
			if !strings.Contains(u.text(-1), "the user's own") {
				t.Errorf("%d columns, %s: the user's history is gone", cols, r.name)
			}
			if leak := leaked(u.written()); leak != "" {
				t.Errorf("%d columns, %s: the user's terminal got %s", cols, r.name, leak)
			}
			if t.Failed() {
				t.FailNow()
			}
		}
	}
}

// leaked says what of the bytes written to a user's terminal no viewer may get.
func leaked(written string) string {
	u := &userColors{}
	for _, ours := range []string{quiet, listening, u.question(), keepTitle, giveTitle, "\x1b[?5W"} {
		written = strings.ReplaceAll(written, ours, "")
	}
	e := vt.NewEngine(vt.Config{Cols: 40, Rows: 8, Guest: true})
	if got := string(e.Write([]byte(written))); got != written {
		return fmt.Sprintf("%q where %q is known", written, got)
	}
	return ""
}

// leftBehind says in what a terminal differs, besides its text and title.
func leftBehind(before, after *vt.Frame) string {
	// A cursor saved in the corner in plain characters is as one that never was.
	saved := func(c vt.SavedCursor) string {
		set := c.Charsets.G[c.Charsets.GL]
		return strings.ReplaceAll(fmt.Sprint(max(c.X, 0), max(c.Y, 0), c.PendingWrap, c.Pen, c.Origin, set), "66", "0")
	}
	state := func(f *vt.Frame) string {
		s, hidden := f.Main, vt.Screen{}
		if fmt.Sprint(s.Tabs) == "[8 16 24 32]" {
			s.Tabs = nil // which means the same
		}
		if f.Hidden != nil {
			hidden = *f.Hidden
		}
		return fmt.Sprint(f.Modes, f.Pen, f.Charsets, f.CursorStyle, f.Alt != nil, f.Invoked, f.Extended, f.Open,
			f.Foreground, f.Background, f.CursorColor, len(f.Palette), f.OtherColors, f.SavedModes, string(f.Pending),
			hidden.Kitty, saved(hidden.Saved),
			s.Top, s.Bottom, s.Tabs, s.Kitty, saved(s.Saved))
	}
	if a, b := state(before), state(after); a != b {
		return fmt.Sprintf("\n%s\n%s", a, b)
	}
	return ""
}

// documentedRow is a row of docs/reference/sequences.md and the input of its scripts.
type documentedRow struct {
	name   string
	inputs []string
}

var (
	docRow       = regexp.MustCompile(`(?m)^\| (.+) \| ([0-9 ]+) \|$`)
	scriptInput  = regexp.MustCompile(`(?m)^in "(.*)"(?: x(\d+))?$`)
	scriptEscape = regexp.MustCompile(`\\x([0-9a-f]{2})|\\u\{([0-9a-f]+)\}|\\([eabtnvfr\\"])`)
)

func documented(t *testing.T) (rows []documentedRow) {
	t.Helper()
	doc, err := os.ReadFile("../../docs/reference/sequences.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range docRow.FindAllStringSubmatch(string(doc), -1) {
		r := documentedRow{name: m[1]}
		for number := range strings.FieldsSeq(m[2]) {
			paths, _ := filepath.Glob("../../vt/testdata/script/" + number + "-*.txt")
			for _, p := range paths {
				b, err := os.ReadFile(p)
				if err != nil {
					t.Fatal(err)
				}
				for _, in := range scriptInput.FindAllStringSubmatch(string(b), -1) {
					times, _ := strconv.Atoi(in[2])
					if one := scriptText(in[1]); len(one)*times < 10_000 { // floods say nothing new
						r.inputs = append(r.inputs, strings.Repeat(one, max(times, 1)))
					}
				}
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// scriptText undoes the escapes of a script.
func scriptText(s string) string {
	named := map[string]string{"e": "\x1b", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
		`\`: `\`, `"`: `"`}
	return scriptEscape.ReplaceAllStringFunc(s, func(esc string) string {
		m := scriptEscape.FindStringSubmatch(esc)
		switch {
		case m[1] != "":
			v, _ := strconv.ParseUint(m[1], 16, 8)
			return string([]byte{byte(v)})
		case m[2] != "":
			v, _ := strconv.ParseUint(m[2], 16, 32)
			return string(rune(v))
		}
		return named[m[3]]
	})
}
