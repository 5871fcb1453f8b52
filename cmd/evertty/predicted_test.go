//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/vt"
)

// TestOverlayIsTakenBackExactly: over random output, at random cursors, nothing of a prediction is left on the user's
// terminal: neither in cells nor in the cursor, the pen, the modes and what the next output does.
func TestOverlayIsTakenBackExactly(t *testing.T) {
	pieces := append([]string{"\x1b[3;5H", "\x1b[7m", "\x1b[1;38;5;9m", "\x1b[4m", "\x1b[m", "e", "e\u0301", "\x1b[5b",
		"\x1b7", "\x1b8", "\x1b[?7l", "\x1b[?7h", "\x1b[4h", "\x1b[4l", "\x1b[1\"q", "\x1b[0\"q", "\x1b[?5h", "$ ls",
		"\x1b[90msuggestion\x1b[m\x1b[10D", "\x1b[4X", "\x0e", "\x0f", "\x1b[21m", "\x1b[58;5;1m", "é", "\x1b[?2026h",
		"\x1b[?2026l", "\x1b[38;2;1;2", ";3m", "\xe6\x97", "\xa5"}, displayPieces...)
	// A guest gets RIS in other words and no ED 3, so that its saved cursor is another one then.
	pieces = slices.DeleteFunc(pieces, func(p string) bool { return p == "\x1bc" || p == "\x1b[3J" })
	drawn := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		terminal, same := vt.NewEngine(vt.Config{Cols: 40, Rows: 8, Scrollback: keptLines}), newWindow(40, 8)
		w := newWindow(40, 8)
		w.write(w.d.first(snapshotOf(terminal, -1)))
		same.write(same.d.first(snapshotOf(terminal, -1)))
		var log []string
		for range 100 {
			piece := pieces[r.IntN(len(pieces))]
			log = append(log, fmt.Sprintf("%q", piece))
			w.takes(piece)
			same.takes(piece)
			at := r.IntN(38)
			text := strings.Repeat("x", r.IntN(39-at))
			w.d.predicted = prediction{at, text, r.IntN(39 - at - len(text)), r.IntN(39)}
			o := w.d.overlay()
			if o == (overlay{}) {
				continue
			}
			drawn++
			before := w.screen.Freeze()
			w.write([]byte(o.draw))
			now := w.screen.Freeze()
			row := now.Active().Lines[now.Active().Y]
			for i := range text {
				if c := row.Cell(at + i); c.Text != "x" || c.Style.Underline != vt.UnderlineSingle {
					t.Fatalf("column %d shows %+v", at+i, c)
				}
			}
			if now.Active().X != w.d.predicted.cursor || now.Pen != before.Pen {
				t.Fatalf("the cursor is in %d, the pen %+v", now.Active().X, now.Pen)
			}
			w.write([]byte(o.undo))
			got, want := w.screen.Freeze(), same.screen.Freeze()
			if w.d.engine.Freeze().LastChar == 0 {
				want.LastChar = 0 // the emulator has forgotten it, and passes no REP on
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %s\n%+v: %q is not taken back by %q:\n%+v\nwant\n%+v", seed, strings.Join(log, " "),
					w.d.predicted, o.draw, o.undo, got, want)
			}
		}
	}
	if drawn < 1000 {
		t.Errorf("%d predictions were drawn", drawn)
	}
}

// TestOverlayIsSmall: a key costs some tens of bytes.
func TestOverlayIsSmall(t *testing.T) {
	w := newWindow(80, 24)
	terminal := vt.NewEngine(vt.Config{Cols: 80, Rows: 24})
	terminal.Write([]byte("\x1b[32muser@host\x1b[m:\x1b[34m~\x1b[m$ ls"))
	w.write(w.d.first(snapshotOf(terminal, -1)))
	x := terminal.Freeze().Main.X
	w.d.predicted = prediction{x, "a", 0, x + 1}
	o := w.d.overlay()
	if n := len(o.draw) + len(o.undo); n > 50 {
		t.Errorf("%d bytes: %q %q", n, o.draw, o.undo)
	}
	if bytes.Contains([]byte(o.draw+o.undo), []byte("K")) {
		t.Errorf("a line is erased: %q %q", o.draw, o.undo)
	}
}

// TestNoKeyWaitsForTheUsersTerminal: keys that nobody takes are dropped, and so is all that was predicted.
func TestNoKeyWaitsForTheUsersTerminal(t *testing.T) {
	v := &viewer{}
	v.sent, v.shown, v.recheck = make(chan sentKey, sentAhead), true, time.NewTimer(time.Hour)
	for range sentAhead + 1 {
		v.noteSent([]byte("a"), time.Now())
	}
	v.predictor = newPredictorScript().p
	v.predictor.burst, v.predictor.pending, v.stale = true, []pendingText{{"a", time.Now()}}, true
	if err := v.predictSent(); err != nil || v.predictor.burst || len(v.predictor.pending) > 0 {
		t.Errorf("%v, %+v", err, v.predictor)
	}
}

// TestOverlayIsNotDrawn where it would not be exact, or no cursor is to be seen.
func TestOverlayIsNotDrawn(t *testing.T) {
	for state, draws := range map[string]bool{"": true, "\x1b[?25l": false, "\x1b[?2026h": false, "\x1b[4h": false,
		"\x1b[?6h": false, "\x1b(0": false, "\x1b(0\x1b7\x1b(B\x1b8": false, "\x1b[4m": false, "\x1b[1": false,
		"\x1b]8;;http://x/\x1b\\": false, "\x1b[1\"q": false, "\x1b[1;31m": true, "日": false} {
		w := newWindow(40, 8)
		w.write(w.d.first(snapshotOf(vt.NewEngine(vt.Config{Cols: 40, Rows: 8}), -1)))
		w.takes("$ " + state)
		w.d.predicted = prediction{2, "a", 0, 3}
		if o := w.d.overlay(); (o != overlay{}) != draws {
			t.Errorf("%q: %+v", state, o)
		}
	}
	w := newWindow(30, 8)
	w.write(w.d.first(snapshotOf(vt.NewEngine(vt.Config{Cols: 40, Rows: 8}), -1)))
	w.takes("$ \x1b[?25l")
	w.d.predicted = prediction{2, "a", 0, 3}
	w.write(w.d.paint())
	if text := w.screen.Freeze().Main.Lines[0].Text(); text != "$" {
		t.Errorf("a painted window shows %q", text)
	}
}

// TestOverlayInAPaintedWindow: the row has it, the cursor is behind it and in the window.
func TestOverlayInAPaintedWindow(t *testing.T) {
	for cols, terminalCols := range map[int]int{30: 80, 90: 80} {
		w := newWindow(cols, 6)
		terminal := vt.NewEngine(vt.Config{Cols: terminalCols, Rows: 10})
		terminal.Write([]byte("one\r\n$ " + strings.Repeat("y", 40)))
		w.write(w.d.first(snapshotOf(terminal, -1)))
		w.d.predicted = prediction{42, "abc", 0, 45}
		w.write(w.d.paint())
		f := w.screen.Freeze()
		s := f.Active()
		c := s.Lines[s.Y].Cell(s.X - 1)
		if text := s.Lines[s.Y].Text(); !strings.HasSuffix(text, "yabc") || c.Style.Underline != vt.UnderlineSingle ||
			c.Text != "c" {
			t.Errorf("%d columns: the cursor is in %d of %q", cols, s.X, text)
		}
		w.d.predicted = prediction{41, "", 1, 41}
		w.write(w.d.paint())
		if f := w.screen.Freeze(); !strings.HasSuffix(f.Active().Lines[f.Active().Y].Text(), strings.Repeat("y", 25)) ||
			strings.Count(f.Active().Lines[f.Active().Y].Text(), "y") > 39 {
			t.Errorf("%d columns: erased is shown as %q", cols, f.Active().Lines[f.Active().Y].Text())
		}
		w.d.predicted = prediction{42, strings.Repeat("z", 35), 0, 77}
		w.write(w.d.paint())
		if f := w.screen.Freeze(); strings.Count(f.Active().Lines[f.Active().Y].Text(), "z") != min(35, cols-1) {
			t.Errorf("%d columns: it is shown as %q", cols, f.Active().Lines[f.Active().Y].Text())
		}
		w.d.predicted = prediction{}
		w.write(w.d.paint())
		w.compare(t, terminal)
	}
}
