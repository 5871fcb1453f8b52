package snapshot

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var corpora = flag.String("corpora", "",
	"also run TestXtermGoesOn over the recordings (NAME.rec, NAME.json) below this folder")

// streams are what programs send, one feature each. Every one is cut at every
// character.
var streams = []struct{ name, text string }{
	{"text and colours", "$ ls\r\n\x1b[1;34mdir\x1b[0m  \x1b[32;44mexe\x1b[m\r\n\x1b[7mprompt \x1b[27m$ \x1b[K"},
	{"wraps and history", strings.Repeat("0123456789", 5) + "\r\n\x1b[41mcolour" + strings.Repeat(" wraps",
		9) + "\x1b[m\r\nend"},
	{"wide and marks", "漢字かな漢字かな漢字x漢字 e\u0301a\u0300\u0301 👍🏽\r\n\x1b[44m漢字漢字漢字漢字漢字\x1b[m\x1b[3;3H\u0301x"},
	{"pending wrap", "\x1b[3;16Habcde\x1b[31mf\x1b[2;20HX\x1b[1mY\x1b[5;19H漢\x1b[4b"},
	{"margins and origin", "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[2;4r\x1b[?6h\x1b[2;3Hx\n\n\ny\x1b[?6l\x1b[3Lz\x1b[r"},
	{"saved cursor", "ab\x1b[2;5H\x1b[1;31m\x1b(0\x1b7\x1b[m\x1b[5;5Hlq\x1b8lqk\x1b[0m\x1b(B-"},
	{"character sets", "\x1b(0lqqk\x1b(B\x1b)0\x0elq\x0fab\x1b*A\x1bn#\x1bo#\x0f#"},
	{"alternate screen", "main\r\n\x1b[44mtext\x1b[?1049h\x1b[2J\x1b[H\x1b[7mvim\x1b[m\x1b[2;3r\x1b[3;1H\x1b[?25l" +
		"\x1b[?1h\x1b=:q\x1b[r\x1b[?1049l\x1b[?25hback"},
	{"tabs", "\x1b[3g\x1b[5G\x1bH\x1b[9G\x1bH\r\tx\ty\x1b[0g\r\tx\ty"},
	{"modes", "\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[?1004h\x1b[4hin\x1b[1Gsert\x1b[4l\x1b[20h\na\nb\x1b[20l\x1b[?7l" +
		strings.Repeat("nowrap", 5) + "\x1b[?7h\x1b[?2026hx\x1b[?2026l\x1b[5 q\x1b[?1002h\x1b[?1016h"},
	{"underlines and links", "\x1b[4:3;58:2::1:2:3mcurl\x1b[4:5mdash\x1b[24mno\x1b[m \x1b]8;id=1;https://a.b/c;d" +
		"\x1b\\link\x1b[1mbold\r\nnext\x1b]8;;\x1b\\ \x1b]8;;mailto:x@y\x07mail"},
	{"erase and protect", "abcdefgh\x1b[1\"qijkl\x1b[0\"qmn\x1b[?2K\x1b[42m\x1b[1;3H\x1b[3X\x1b[1;8H\x1b[K\x1b[2;1H" +
		"\x1b[1J\x1b[m"},
	{"titles and strings", "\x1b]0;title\x07\x1b]2;vim \u2013 x\x1b\\\x1b]1;i\x07\x1bP1$tx\x1b\\\x1b_apc\x1b\\\x1b^pm" +
		"\x1b\\\x1bXsos\x1b\\done"},
	{"repeat", "ab\x1b[3bc\x1b[1m\x1b[2b漢\x1b[2b\x1b[1;20Hz\x1b[3b"},
	{"scrolling", "1\r\n2\r\n3\r\n4\r\n5\r\n\x1b[43m6\r\n7\x1b[2S\x1b[1T\x1bM\x1bM\x1b[1;1H\x1bMx\x1b[m\x1bD\x1bE"},
	{"broken sequences", "a\x1b[1;\x18b\x1b[3\x1b[4mc\x1b]2;x\x1b[md\x1b[1\n2me\x1b(\x7f0q" +
		"\x1b(Bf\u009b1mg\u009d2;t\u009ch"},
}

// probe shows hidden state: it prints, repeats, tabs, scrolls, restores the
// cursor, leaves the other screen, shifts and addresses.
const probe = "P\x1b[2b\tQ\r\n\n\x1b8R\x1b[999;999HS\x1b[2AV\x1b[?1047l\x1b8T\x0eU\x0f\x1b[1;1HW\x1b[5;5H\x1b[KX"

// TestXtermGoesOn cuts streams everywhere. At the cut an xterm.js is turned into
// a frame, the frame into a snapshot, and the snapshot into another xterm.js;
// both are equal, and still equal when the rest of the stream came.
func TestXtermGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
	j := startJudge(t)
	for _, s := range streams {
		t.Run(s.name, func(t *testing.T) {
			var all []int
			for cut := range s.text {
				if cut%(12/few(12, 4)) == 0 {
					all = append(all, cut)
				}
			}
			for cut, problem := range goOn(t, j, 20, 6, []byte(s.text), all) {
				t.Errorf("cut at %d, after %s:\n%s", cut, show(s.text[:cut]), problem)
			}
		})
	}
}

// goOn returns what went wrong when text is cut at the given places, ascending.
func goOn(t *testing.T, j *judge, cols, rows int, text []byte, cuts []int) map[int]string {
	t.Helper()
	run := job{Cols: cols, Rows: rows, Scrollback: 5000}
	done := 0
	for _, cut := range append(cuts, len(text)) {
		run.Writes = append(run.Writes, text[done:cut])
		done = cut
	}
	run.Writes = append(run.Writes, []byte(probe))
	whole := j.ask(t, run)
	problems := map[int]string{}
	for i, cut := range cuts {
		ansi := ANSI(frameOf(t, whole[i], text[:cut]), Options{Scrollback: -1, Engine: true})
		rest := append(bytes.Clone(text[cut:]), probe...)
		got := j.ask(t, job{Cols: cols, Rows: rows, Scrollback: 5000, Writes: [][]byte{ansi, rest}})
		var out []string
		if len(got[0].Data) > 0 || got[0].Bells > 0 {
			out = append(out, "the viewer answered or rang")
		}
		for _, d := range stateDifferences(alike(got[0]), alike(whole[i])) {
			out = append(out, "at the cut: "+d)
		}
		for _, d := range stateDifferences(alike(got[1]), alike(whole[len(whole)-1])) {
			out = append(out, "at the end: "+d)
		}
		if out != nil {
			problems[cut] = strings.Join(append(out, "snapshot "+show(string(ansi))), "\n")
		}
	}
	return problems
}

// TestXtermGoesOnRecordings is TestXtermGoesOn with recordings of real programs.
func TestXtermGoesOnRecordings(t *testing.T) {
	if *corpora == "" {
		t.Skip("runs with -corpora DIR only: the engine's own tests have the recordings by default; this one asks " +
			"what ANSI makes of an exact frame")
	}
	j := startJudge(t)
	var pairs, bad int
	err := filepath.WalkDir(*corpora, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".rec") {
			return err
		}
		var size struct{ Cols, Rows int }
		b, err := os.ReadFile(strings.TrimSuffix(path, ".rec") + ".json")
		if err == nil {
			err = json.Unmarshal(b, &size)
		}
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(path)
		raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
		at := cuts(raw)
		problems := goOn(t, j, size.Cols, size.Rows, raw, at)
		pairs, bad = pairs+len(at), bad+len(problems)
		for cut, problem := range problems {
			t.Errorf("%s cut at %d of %d:\n%.2000s", path, cut, len(raw), problem)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d pairs", pairs-bad, pairs)
}

// cuts are the tenths of a recording, two places inside a CSI sequence, one in
// an OSC, and the end.
func cuts(b []byte) (out []int) {
	add := func(p int) {
		for p > 0 && p < len(b) && !utf8.RuneStart(b[p]) {
			p++
		}
		out = append(out, p)
	}
	for i := 1; i <= 10; i++ {
		add(len(b) * i / 10)
	}
	for _, where := range []struct {
		from  int
		start string
		in    int
	}{{len(b) * 35 / 100, "\x1b[", 3}, {len(b) * 75 / 100, "\x1b[", 3}, {len(b) / 2, "\x1b]", 4}} {
		if p := bytes.Index(b[where.from:], []byte(where.start)); p >= 0 && where.from+p+where.in < len(b) {
			add(where.from + p + where.in)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
