package snapshot

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// checkPainted writes the snapshot of f to an xterm.js and compares. The frame
// is what xterm.js can be: normalized, and with a running program.
func checkPainted(t *testing.T, j *judge, f *vt.Frame, o Options, reuse bool) {
	t.Helper()
	ansi := ANSI(f, o)
	checkHarmless(t, f, ansi)
	got := j.ask(t, job{Cols: f.Cols, Rows: f.Rows, Scrollback: 10_000, Reuse: reuse, Writes: [][]byte{ansi}})[0]
	if len(got.Data) > 0 || got.Bells > 0 {
		t.Errorf("the viewer answered %q and rang %d bells", got.Data, got.Bells)
	}
	if slices.ContainsFunc(got.Colors, func(c string) bool { return strings.HasPrefix(c, "0:") }) {
		t.Errorf("a colour was asked for: %q", got.Colors)
	}
	want := expected(f, o.Scrollback)
	if want.Alt {
		// xterm.js takes the cursor along when it leaves the other screen
		want.Main.X, want.Main.Y = got.Main.X, got.Main.Y
	}
	if reuse && f.Title == "" {
		want.Title = got.Title // a title that was never set is not touched
	}
	if reuse && f.Icon == "" {
		want.Icon = got.Icon
	}
	want.Parser, want.Repeat, got.Data, got.Bells, got.Colors = got.Parser, got.Repeat, nil, 0, nil
	if pending := len(openTail(f.Pending)) > 0; pending != (got.Parser != "0:") {
		t.Errorf("parser state %s with pending %q", got.Parser, f.Pending)
	} else if pending {
		want.Repeats = got.Repeats
	}
	for _, d := range stateDifferences(got, want) {
		t.Error(d)
	}
	if t.Failed() {
		t.Logf("snapshot %s", show(string(ansi)))
	}
}

// checkHarmless checks the text itself: no BEL, no byte that is not UTF-8, and
// nothing after ESC but what ANSI writes on purpose.
func checkHarmless(t *testing.T, f *vt.Frame, ansi []byte) {
	t.Helper()
	text := bytes.TrimSuffix(ansi, openTail(f.Pending))
	if !bytes.HasPrefix(text, []byte("\x18")) {
		t.Error("does not begin with CAN")
	}
	for i, r := range string(text) {
		meant := r == 0x1b || r == '\r' || r == '\n' || r == 0x0e || r == 0x0f || r == 0x18 && i == 0
		if unprintable(r) && !meant || r == '\ufffd' && !bytes.HasPrefix(text[i:], []byte("\ufffd")) {
			t.Errorf("byte %d is %q", i, r)
		}
	}
	for _, query := range []string{"\x1bZ", "\x05", "\x1bP", "\x1b_", "\x1b]52", "\x1b[c", "\x1b[0c", "\x1b[>c",
		"\x1b[5n", "\x1b[6n", "$p", "\x1b[?u", ";?\x1b\\", "\x1b[18t", "\x1b[21t"} {
		if bytes.Contains(text, []byte(query)) {
			t.Errorf("holds %q", query)
		}
	}
}

// TestXtermShowsScripts feeds every script's snapshot to a real xterm.js.
func TestXtermShowsScripts(t *testing.T) {
	t.Parallel()
	j := startJudge(t)
	for _, s := range loadScripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(s.path), ".txt"), func(t *testing.T) {
			switch filepath.Base(s.path) {
			case "14-wrap-one-row.txt", "16-history-wider.txt":
				t.Skip("what the frame holds cannot be said to xterm.js; the script shows what is said instead")
			case "53-repeat-not.txt":
				s.frame.LastChar = 0
			}
			s.frame = normalize(s.frame)
			if s.options.Ended {
				s.frame = withoutProgram(s.frame)
			}
			for _, reuse := range []bool{false, true} {
				checkPainted(t, j, s.frame, s.options, reuse)
			}
		})
	}
}

// TestXtermTakesColours: what OSC 4, 10, 11 and 12 changed is set, the rest is
// given back, and nothing is asked for.
func TestXtermTakesColours(t *testing.T) {
	j := startJudge(t)
	f := smallFrame()
	f.Pending = nil
	f.Palette = map[uint8]vt.Color{255: vt.RGBColor(255, 0, 1), 3: vt.RGBColor(16, 32, 48)}
	f.Foreground, f.Background, f.CursorColor = vt.RGBColor(1, 2, 3), 0, vt.RGBColor(7, 8, 9)
	got := j.ask(t, job{Cols: f.Cols, Rows: f.Rows, Writes: [][]byte{ANSI(f, Options{})}})[0]
	// Kind (1 set, 2 restore), index (256 foreground, 257 background, 258 cursor), channels.
	want := []string{"2::", "1:3:16,32,48", "1:255:255,0,1", "1:256:1,2,3", "2:257:", "1:258:7,8,9"}
	if !slices.Equal(got.Colors, want) {
		t.Errorf("got %q, want %q", got.Colors, want)
	}
}

// TestXtermInTheMiddleOfAString: a viewer that missed output may be inside a
// string when its new snapshot comes; the string has no effect.
func TestXtermInTheMiddleOfAString(t *testing.T) {
	j := startJudge(t)
	for _, begun := range []string{"\x1b]2;stolen", "\x1b]8;;https://example.org", "\x1bP$q", "\x1b[6", "\x1b_x",
		"\x1b]4;1;?"} {
		j.ask(t, job{Cols: 10, Rows: 3, Writes: [][]byte{[]byte("x" + begun)}})
		f := smallFrame()
		f.Cols, f.Rows, f.Title, f.Pending = 10, 3, "", nil
		want := j.ask(t, job{Cols: 10, Rows: 3, Writes: [][]byte{ANSI(f, Options{})}})[0]
		j.ask(t, job{Cols: 10, Rows: 3, Writes: [][]byte{[]byte("x" + begun)}})
		got := j.ask(t, job{Cols: 10, Rows: 3, Reuse: true, Writes: [][]byte{ANSI(f, Options{})}})[0]
		if len(got.Data) > 0 {
			t.Errorf("%q: answered %q", begun, got.Data)
		}
		for _, d := range stateDifferences(got, want) {
			t.Errorf("%q: %s", begun, d)
		}
	}
}
