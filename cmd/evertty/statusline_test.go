//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// statusPieces would reach a row that is not the terminal's if its output went through.
var statusPieces = slices.Concat(displayPieces, []string{
	"\x1b#8", "\x1b[!p", "\x1b[J", "\x1b[3J", "\x1b[999B", "\x1b[999e", "\x1b[999d",
	"\x1b[2;6r\x1b[99H" + "below\n\n\n",
	"\x1b[r\x1b[999;999Hwraps here", "\x1b[?47h", "\x1b[?47l", "\x1bD", "\x1bE", "\x1bM",
	"\x1b[?3h", "\x1b[?3l", "\x1b[1;1;999;999$z", "\x1b[X", "\x1b[9999b", "\x1b[?5h", "\x1b[?5l",
	"\x1b[9;999r", "\x1b[999r", "\x1b]7;file:///tmp\x1b\\", "\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h", "\x1b[?25l",
})

// savedPieces save and restore the cursor: see displayPieces.
var savedPieces = slices.Concat(statusPieces, []string{"\x1b[?1049h", "\x1b[?1049l", "\x1b7", "\x1b8",
	"\x1b[s", "\x1b[u"})

// withStatus has the window show a status line.
func (w *window) withStatus() *window {
	info := client.Terminal{Terminal: wire.Terminal{ID: "t1", Name: "build", Session: "main",
		Cmd: []string{"make", "all"}}}
	w.d.status = newStatusLine(info, `C-\ C-\`, false)
	return w
}

// lastRow is the text of the last row of the window.
func (w *window) lastRow() string {
	f := w.screen.Freeze()
	return f.Active().Lines[f.Rows-1].Text()
}

// TestStatusLineStaysInItsRow draws random output and changes of size above a status line: the rows above are exactly
// the terminal's, and the last row is the line.
func TestStatusLineStaysInItsRow(t *testing.T) {
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 2))
		size := func() (int, int) { return 20 + r.IntN(100), 3 + r.IntN(40) }
		cols, rows := size()
		terminal := vt.NewEngine(vt.Config{Cols: cols, Rows: rows, Scrollback: 200})
		w := newWindow(cols, rows+1).withStatus()
		w.write(w.d.first(snapshotOf(terminal, -1)))
		log := []string{fmt.Sprintf("seed %d, window %v on %dx%d", seed, w.d.window, cols, rows)}
		pieces, changes := savedPieces, 1
		if seed%2 == 0 {
			pieces, changes = statusPieces, 2
		}
		for range 100 {
			switch n := r.IntN(25); {
			case n == 0:
				w.resize(size())
			case n < changes:
				terminal.Resize(size())
				w.write(w.d.again(snapshotOf(terminal, 0)))
			case n < 4:
				f := terminal.Freeze()
				w.resize(f.Cols, f.Rows+1)
			default:
				p := pieces[r.IntN(len(pieces))]
				w.prints(t, terminal, p)
				log = append(log, fmt.Sprintf("%q", p))
			}
			log = append(log, fmt.Sprintf("%v %v", w.d.size, w.d.window))
			w.compare(t, terminal, log...)
			if last := w.lastRow(); !strings.HasPrefix(last, " main/build  ") {
				t.Fatalf("the last row is %q\n%s", last, strings.Join(log, "\n"))
			}
		}
	}
}

// TestStatusLineTakesNoMouse: of a terminal that has more rows than the window, none is below the line.
func TestStatusLineTakesNoMouse(t *testing.T) {
	terminal := vt.NewEngine(vt.Config{Cols: 40, Rows: 20})
	terminal.Write([]byte("\x1b[12H\x1b[?1000;1006h"))
	w := newWindow(40, 10).withStatus()
	w.write(w.d.first(snapshotOf(terminal, -1)))
	var m mouseTranslator
	if got := string(m.pass([]byte("\x1b[<0;1;9M\x1b[<0;1;10M"), w.d.mouse())); got != "\x1b[<0;1;12M" {
		t.Errorf("reported %q", got)
	}
}

// TestStatusLineKeepsTheScrollback: what scrolls off the terminal is in the window's scrollback, once and in order,
// however much comes between two paintings.
func TestStatusLineKeepsTheScrollback(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		terminal := vt.NewEngine(vt.Config{Cols: 40, Rows: 7, Scrollback: 9000})
		w := newWindow(40, 8).withStatus()
		w.screen = vt.NewEngine(vt.Config{Cols: 40, Rows: 8, Scrollback: 9000})
		w.write(w.d.first(snapshotOf(terminal, -1)))
		for n := range 60 {
			p := fmt.Sprintf("\x1b[3%dm%d:%s\x1b[m\r\n", n%8, n, strings.Repeat("long ", r.IntN(12)))
			switch r.IntN(8) {
			case 0:
				p = strings.Repeat("flood\r\n", r.IntN(100)) + p
			case 1:
				p = "\x1b[?1049heditor\x1b[99H\n\n" + "\x1b[?1049l" + p
			case 2:
				p += "\x1b[?1049h\x1b[Heditor"
			case 3:
				p = "\x1b[?1049l\x1b[2;5r\x1b[5H\n\n\n\x1b[r\x1b[7H" + p
			case 4:
				p = "\x1b[1;6r\x1b[6H\n\n\n\x1b[r\x1b[7H" + p
			}
			terminal.Write([]byte(p))
			w.d.output([]byte(p))
			if r.IntN(3) == 0 {
				w.write(w.d.paint())
			}
		}
		w.write(w.d.paint())
		w.compare(t, terminal)
		if f := w.screen.Freeze(); f.Active().Bottom != f.Rows-1 {
			t.Fatalf("seed %d: the bottom margin is %d", seed, f.Active().Bottom)
		}
		got, want := textOf(w.screen.Freeze().History), textOf(terminal.Freeze().History)
		if got != want {
			t.Fatalf("seed %d: the scrollback is\n%s\nwant\n%s", seed, got, want)
		}
	}
}

// textOf is lines with their attributes.
func textOf(lines vt.Lines) string {
	var b strings.Builder
	for l := range lines.All() {
		fmt.Fprintf(&b, "%q\n", snapshot.PaintRow(l, 0, l.Cells()))
	}
	return b.String()
}

// TestStatusLineLeavesNothing: in the end the window is as without the line, on both screens.
func TestStatusLineLeavesNothing(t *testing.T) {
	for _, p := range []string{"shell", "shell\r\n\x1b[?1049heditor", "a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng"} {
		left := func(w *window) string {
			terminal := vt.NewEngine(vt.Config{Cols: 60, Rows: 6})
			w.write(w.d.first(snapshotOf(terminal, -1)))
			w.takes(p)
			w.write([]byte(w.d.withoutStatus() + leave(w.d.contentEnd(), w.d.window, w.d.leaves())))
			f := w.screen.Freeze()
			if f.Alt != nil || f.Main.Top != 0 || f.Main.Bottom != f.Rows-1 {
				t.Errorf("%q: left in the state %+v", p, f.Main)
			}
			return strings.TrimRight(snapshot.Text(f, -1), "\n")
		}
		if got, want := left(newWindow(60, 7).withStatus()), left(newWindow(60, 6)); got != want {
			t.Errorf("%q: left is\n%s\nwant\n%s", p, got, want)
		}
	}
	terminal := vt.NewEngine(vt.Config{Cols: 60, Rows: 9}) // has more rows than the window
	terminal.Write([]byte(strings.Repeat("shell\r\n", 8) + "\x1b[?1049h\x1b[H"))
	w := newWindow(60, 7).withStatus()
	w.write(w.d.first(snapshotOf(terminal, -1)))
	if w.write([]byte(w.d.withoutStatus() + sober)); w.lastRow() != "" {
		t.Errorf("left is the row %q", w.lastRow())
	}
}

func TestStatusLineText(t *testing.T) {
	info := client.Terminal{Terminal: wire.Terminal{ID: "t1", Name: "build", Session: "main",
		Cmd: []string{"make", "all"}}}
	for _, tc := range []struct {
		cols int
		f    statusFacts
		want string
	}{
		{70, statusFacts{viewers: 1}, ` main/build  make all             running  1 viewer  C-\ C-\ detaches`},
		{70, statusFacts{title: "a \x1b[31mtitle", viewers: 2},
			` main/build  a ?[31mtitle        running  2 viewers  C-\ C-\ detaches`},
		{70, statusFacts{title: strings.Repeat("日本", 40), viewers: 1},
			` main/build  日本日本日本日本日   running  1 viewer  C-\ C-\ detaches`},
		{80, statusFacts{lost: true, size: wire.Size{Cols: 9, Rows: 8}},
			` main/build  make all                       reconnecting  9x8  C-\ C-\ detaches`},
		{40, statusFacts{viewers: 1}, ` main/build  running  1 viewer  C-\ C-\`},
		{9, statusFacts{viewers: 1}, ` main/bui`},
		{1, statusFacts{viewers: 1}, ``},
	} {
		s := newStatusLine(info, `C-\ C-\`, true)
		tc.f.name = s.told.name
		s.told = tc.f
		e := vt.NewEngine(vt.Config{Cols: tc.cols, Rows: 1})
		e.Write([]byte("\x1b[?7l" + s.row(tc.cols)))
		if got := strings.TrimRight(snapshot.Text(e.Freeze(), 0), " \n"); got != tc.want {
			t.Errorf("%d columns, %+v:\n%q, want\n%q", tc.cols, tc.f, got, tc.want)
		}
	}
	s := newStatusLine(info, "", false)
	if row := s.row(20); !strings.HasPrefix(row, "\x1b[7m main/build") {
		t.Errorf("%q", row)
	}
}

// TestStatusLineChangesSeldom: at most once in statusPause, but for the connection.
func TestStatusLineChangesSeldom(t *testing.T) {
	s := newStatusLine(client.Terminal{Terminal: wire.Terminal{Name: "build"}}, "", true)
	s.row(80)
	title := "other"
	s.hear(&wire.EventMeta{Title: &title})
	if wait, ok := s.due(); !ok || wait <= 0 || wait > statusPause || strings.Contains(s.row(80), title) {
		t.Errorf("after a change: %v %v", wait, ok)
	}
	s.told.lost = true
	if row := s.row(80); !strings.Contains(row, "reconnecting") {
		t.Errorf("%q", row)
	}
	s.at, s.told.lost = time.Now().Add(-statusPause), false
	if row := s.row(80); !strings.Contains(row, title) {
		t.Errorf("%q", row)
	}
	s.learn(client.Terminal{Terminal: wire.Terminal{Name: "new", Title: "older"}})
	if s.told.title != title || s.told.name != "/new" {
		t.Errorf("a reply replaced the title of an event: %+v", s)
	}
}

// TestStatusLineWaitsForWholeFrames: a picture that the program holds together (mode ?2026) is not painted in parts,
// but one that does not end is.
func TestStatusLineWaitsForWholeFrames(t *testing.T) {
	v := &viewer{}
	v.shown, v.draw = true, time.NewTimer(time.Hour)
	w := newWindow(40, 8).withStatus()
	w.d.first(snapshotOf(vt.NewEngine(vt.Config{Cols: 40, Rows: 7}), 0))
	v.display = w.d
	v.display.output([]byte("\x1b[?2026hpart"))
	v.noteFrame()
	if err := v.redraw(); err != nil || !v.waits { // it has no terminal: to paint would be a panic
		t.Errorf("in the middle: %v", err)
	}
	v.display.output([]byte("whole\x1b[?2026l"))
	if v.noteFrame(); !v.frame.IsZero() {
		t.Error("the end was missed")
	}
	s, u := newFakeServer(t), newUserTTY(t)
	code, _ := u.evertty("attach", "t1", "--status")
	server := s.viewer()
	if server.query != "cols=40&format=binary&history=first&rows=7&scrollback=-1" {
		t.Errorf("connected with %s", server.query)
	}
	server.snapshot(40, 7, "x")
	server.data("\x1b[?2026h picture without an end")
	u.sees("picture without an end")
	server.exit(0)
	within(t, code, "the end")
	u.left()
}
