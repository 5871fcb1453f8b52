package vt_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// recording is what a program printed, and what should be on the screen then.
type recording struct {
	name       string
	raw        []byte
	Cols, Rows int
	Scrollback int
	Expect     map[string]string // row, from 0, to its text; nil when nobody says
	Cursor     []int             // row and column, from 0; nil when nobody says
}

// disputed are the recordings whose expected text is not what xterm.js 6 shows,
// and where. The engine shows what xterm.js shows; the tests in snapshot with a
// real one compare all of it.
var disputed = map[string]string{
	"alacritty/deccolm_reset":    "DECCOLM clears the screen there; xterm.js ignores it",
	"alacritty/saved_cursor_alt": "DECRC restores a pending wrap there, and _ is a blank among the DEC graphics",
	"xtermjs/t0055-EL":           "EL ends a pending wrap there",
	"xtermjs/t0084-CBT":          "CBT moves while a wrap is pending there",
	"xtermjs/t0103-reverse_wrap": "BS goes back over any edge there; xterm.js does over wrapped lines alone",
	"xtermjs/t0504-vim":          "the margins of the alternate screen are the main screen's too there",
}

// loadRecordings reads the recordings, which the repository does not carry:
// EVERTTY_CORPORA names their folder, else it is shared/corpora beside the
// checkout.
func loadRecordings(t *testing.T) (all []recording) {
	dir := os.Getenv("EVERTTY_CORPORA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpora")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings: %v (EVERTTY_CORPORA names the folder with NAME.rec and NAME.json)", err)
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		base, ok := strings.CutSuffix(path, ".rec")
		if err != nil || !ok {
			return err
		}
		name, err := filepath.Rel(dir, base)
		if err != nil {
			return err
		}
		r := recording{name: filepath.ToSlash(name)}
		if r.raw, err = os.ReadFile(path); err != nil {
			return err
		}
		about, err := os.ReadFile(base + ".json")
		if err == nil {
			err = json.Unmarshal(about, &r)
		}
		all = append(all, r)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d recordings in %s: %v", len(all), dir, err)
	}
	return all
}

// TestCorpora replays recordings of programs and other terminals' tests: each
// shows the expected state, and the same state byte by byte as in one write.
func TestCorpora(t *testing.T) {
	for _, r := range loadRecordings(t) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := vt.Config{Cols: r.Cols, Rows: r.Rows, Scrollback: r.Scrollback}
			whole, bytewise := vt.NewEngine(c), vt.NewEngine(c)
			whole.Write(r.raw)
			for i := range r.raw {
				bytewise.Write(r.raw[i : i+1])
			}
			f := whole.Freeze()
			if g := bytewise.Freeze(); !equal(f, g) {
				t.Errorf("byte by byte: %s\nwant %+v\ngot  %+v", strings.Join(snapshot.Differences(f, g), "\n"), f, g)
			}
			for _, e := range []vt.Engine{whole, bytewise} {
				if err := vt.Check(e); err != nil {
					t.Error(err)
				}
			}
			wrong := r.differences(f)
			switch reason, known := disputed[r.name]; {
			case !known && len(wrong) > 0:
				t.Error(strings.Join(wrong, "\n"))
			case known && len(wrong) == 0:
				t.Errorf("equals its expectation, though: %s", reason)
			}
		})
	}
}

// differences says where the screen of f is not as expected.
func (r *recording) differences(f *vt.Frame) (out []string) {
	s := f.Active()
	for row, want := range r.Expect {
		y, err := strconv.Atoi(row)
		if err != nil || y < 0 || y >= len(s.Lines) {
			out = append(out, "there is no row "+row)
		} else if got := s.Lines[y].Text(); got != want {
			out = append(out, "row "+row+": "+quote(got)+", want "+quote(want))
		}
	}
	if r.Cursor != nil && !reflect.DeepEqual(r.Cursor, []int{s.Y, s.X}) {
		out = append(out, "cursor at row "+strconv.Itoa(s.Y)+", column "+strconv.Itoa(s.X))
	}
	return out
}
