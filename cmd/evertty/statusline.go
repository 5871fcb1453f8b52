package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

const (
	// statusPause is the shortest time between two changes of the status line. A lost connection is shown at once.
	statusPause = time.Second
	// statusLeast is how many rows a window has at least that has a status line.
	statusLeast = 3
	// captionLeast is the least room, in cells, in which a title says anything.
	captionLeast = 8
	// typistMost is the most that who types takes, in characters.
	typistMost = 32
)

// statusLine says in the last row of a window which terminal the rows above show. Facts may change at any time, the
// text follows them at most once in statusPause. It has one caller at a time; a nil one has no facts and no text.
type statusLine struct {
	command     string // what runs
	keys        string // that detach, in words; "" is none
	plain       bool   // not in reverse video
	unsized     bool   // the window does not say its size, so there is no last row
	told, shown statusFacts
	at          time.Time // when shown changed
	cols        int       // of painted
	painted     string    // what paints shown; "" when that is not known
	// Events of this connection had the fact: a reply of the server may be older.
	titleHeard, viewersHeard bool
	self                     string // this connection among the viewers
	present                  []wire.PresentViewer
	holder                   string // viewer that alone types; "" is none
}

// statusFacts are what changes. name is SESSION/NAME; size is the terminal's when the window has room for another, and
// cutOff says where it has not.
type statusFacts struct {
	name    string
	title   string
	viewers int
	typist  string // who types, or holds the keyboard; "" is nobody else
	lost    bool   // the connection is
	size    wire.Size
	cutOff  string
}

func newStatusLine(info client.Terminal, keys string, plain bool) *statusLine {
	s := &statusLine{keys: keys, plain: plain}
	s.learn(info)
	s.told.viewers++ // who looks at this line
	return s
}

// aboveStatus is how many rows a window of so many has for the terminal.
func aboveStatus(rows int) int {
	if rows < statusLeast {
		return rows
	}
	return rows - 1
}

// rows is how many of so many rows of the window are the terminal's.
func (s *statusLine) rows(window int) int {
	if s == nil || s.unsized {
		return window
	}
	return aboveStatus(window)
}

// learn takes the facts from a reply of the server, unless an event of the connection had newer ones.
func (s *statusLine) learn(info client.Terminal) {
	s.told.name, s.command = info.Session+"/"+nameOf(info), strings.Join(info.Cmd, " ")
	if !s.titleHeard {
		s.told.title = info.Title
	}
	if !s.viewersHeard {
		s.told.viewers = info.Viewers
	}
}

// connected notes a new connection, which tells the facts anew.
func (s *statusLine) connected() {
	if s != nil {
		s.titleHeard, s.viewersHeard = false, false
	}
}

// hear takes the facts of an event.
func (s *statusLine) hear(m *wire.EventMeta) {
	if s == nil {
		return
	}
	if m.Title != nil {
		s.told.title, s.titleHeard = *m.Title, true
	}
	if m.Viewers != nil {
		s.told.viewers, s.viewersHeard = *m.Viewers, true
	}
	if m.Viewer != "" {
		s.self, s.holder = m.Viewer, "" // of a new connection: the server says if it is locked
	}
	if m.Presence != nil {
		s.present = m.Presence.List()
	}
	if m.Control != nil {
		s.holder = ""
		if m.Control.Holder != nil {
			s.holder = *m.Control.Holder
		}
	}
	s.told.typist = s.typist()
}

// typist says who types besides this viewer, or who alone may.
func (s *statusLine) typist() string {
	if s.holder == s.self && s.holder != "" {
		return "you hold the keyboard"
	}
	for _, p := range s.present {
		name := printable(cmp.Or(p.Name, "viewer "+p.ID))
		switch {
		case p.ID == s.holder:
			return name + " holds the keyboard"
		case p.Typing && p.ID != s.self && s.holder == "":
			return name + " types"
		}
	}
	if s.holder != "" {
		return "locked"
	}
	return ""
}

// due is how long the text has to wait for the facts; ok is false when it has them all.
func (s *statusLine) due() (wait time.Duration, ok bool) {
	if s == nil || s.told == s.shown {
		return 0, false
	}
	return max(statusPause-time.Since(s.at), 0), true
}

// row is what paints the row, of so many columns.
func (s *statusLine) row(cols int) string {
	if wait, changes := s.due(); changes && (wait == 0 || s.told.lost != s.shown.lost) {
		s.shown, s.at, s.painted = s.told, time.Now(), ""
	}
	if s.painted == "" || cols != s.cols {
		e := engines[defaultEngine](vt.Config{Cols: cols + beyond, Rows: 1, Guest: true})
		if !s.plain {
			e.Write([]byte("\x1b[7m"))
		}
		e.Write([]byte("\x1b[?7l" + s.text(cols)))
		s.cols, s.painted = cols, string(snapshot.PaintRow(e.Freeze().Main.Lines[0], 0, cols))
	}
	return s.painted
}

// text is the line: name and title from the left, the rest at the right edge, over a title that is too long. In a
// narrow window there is no title, and what does not fit is cut off.
func (s *statusLine) text(cols int) string {
	name, rest := " "+clipped(printable(s.shown.name), cols)+"  ", s.rest()
	caption := clipped(printable(cmp.Or(s.shown.title, s.command)), cols)
	at := cols - utf8.RuneCountInString(rest)
	fill := strings.Repeat(" ", cols)
	if at-utf8.RuneCountInString(name) < captionLeast {
		return name + strings.TrimLeft(rest, " ") + fill
	}
	return fmt.Sprintf("%s\r%s%s\x1b[%dG%s", fill, name, caption, at+1, rest)
}

// rest is what stands behind the title.
func (s *statusLine) rest() string {
	words := []string{"running"}
	if s.shown.lost {
		words[0] = "reconnecting"
	}
	switch n := s.shown.viewers; {
	case n == 1:
		words = append(words, "1 viewer")
	case n > 1:
		words = append(words, fmt.Sprintf("%d viewers", n))
	}
	if s.shown.typist != "" {
		words = append(words, clipped(s.shown.typist, typistMost))
	}
	if size := s.shown.size; size != (wire.Size{}) {
		words = append(words, strings.TrimSpace(fmt.Sprintf("%dx%d %s", size.Cols, size.Rows, s.shown.cutOff)))
	}
	if s.keys != "" {
		words = append(words, printable(s.keys)+" detaches")
	}
	return "  " + strings.Join(words, "  ") + " "
}

// room is how many rows of the window show the terminal, the others the status line.
func (d *display) room() int { return d.status.rows(d.window.Rows) }

func (d *display) hasStatus() bool { return d.room() < d.window.Rows }

// shows is the size that a terminal has room for.
func (d *display) shows() wire.Size { return wire.Size{Cols: d.window.Cols, Rows: d.room()} }

// lastRow is what is on the last row of the window and not the terminal's; "" is nothing.
func (d *display) lastRow(f *vt.Frame) string {
	switch {
	case d.hasStatus():
		d.status.told.size, d.status.told.cutOff = wire.Size{}, d.cutOff(f)
		if d.size != d.shows() {
			d.status.told.size = d.size
		}
		return d.status.row(d.window.Cols)
	case d.hint != "":
		return "\x1b[7m" + clipped(printable(d.hint), max(d.window.Cols-1, 1)) + "\x1b[m"
	}
	return ""
}

// turnFromMain shows the empty alternate screen. The main one below it is as the terminal's, without the status line:
// it is what the user sees in the end.
func (d *display) turnFromMain(b *strings.Builder, f *vt.Frame) {
	if d.rows == nil {
		d.turnTo(b, false)
	}
	d.paintRows(b, f, &f.Main, "")
	b.WriteString(alternateScreen)
	clear(d.rows)
	d.alt, d.state = true, ""
}

// lostNotice says in the status line that the connection is lost, as notice does.
func (d *display) lostNotice() string {
	d.status.told.lost = true
	var b strings.Builder
	b.WriteString(quiet + listening + "\x1b[<99u" + plainModes + "\x1b[r" + hideCursor)
	f := d.engine.Freeze()
	d.paintRow(&b, d.window.Rows-1, d.lastRow(f))
	d.paintCursor(&b, f)
	return b.String()
}

// withoutStatus erases the status line.
func (d *display) withoutStatus() string {
	if !d.hasStatus() {
		return ""
	}
	return fmt.Sprintf("\x1b[m\x1b[%d;1H\x1b[2K", d.window.Rows)
}
