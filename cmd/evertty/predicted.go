package main

import (
	"cmp"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// predictAuto is --predict of who wants predictions where the line is slow.
const predictAuto = "auto"

// sentAhead bounds the keys that were sent and wait to be predicted: the user's terminal is stuck by then.
const sentAhead = 64

// predicting is what a viewer knows of the keys that are on their way. The fields below missed need the turn.
type predicting struct {
	sent      chan sentKey // for the goroutine that draws; nil: nothing is predicted
	missed    atomic.Bool  // a key found no room there
	predictor predictor
	recheck   *time.Timer   // for the predictor's
	pinged    time.Duration // the last measurement of the connection that the predictor took
	viewer    string        // this connection among the viewers
	over      overlay       // is on the user's terminal
}

// sentKey is typed input that was sent.
type sentKey struct {
	typed []byte
	at    time.Time
}

// noteSent hands on what was sent, at a time. It waits for nothing.
func (v *viewer) noteSent(typed []byte, at time.Time) {
	if v.sent == nil {
		return
	}
	select {
	case v.sent <- sentKey{typed, at}:
	default:
		v.missed.Store(true)
	}
}

// predict takes a key that was sent.
func (v *viewer) predict(k sentKey) error {
	if !v.shown {
		return nil
	}
	p := &v.predictor
	if conn := v.conn.Load(); conn != nil && conn.RTT() != v.pinged {
		v.pinged = conn.RTT()
		p.measured(v.pinged)
	}
	if now := time.Now(); v.missed.Swap(false) {
		p.disturb(now)
		p.end()
	} else {
		p.key(k.typed, k.at, now, v.display.place)
	}
	return v.showPrediction()
}

// predictSent takes the keys that were sent before an event.
func (v *viewer) predictSent() error {
	for {
		select {
		case k := <-v.sent:
			if err := v.predict(k); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// correct holds the predictions against an event, and takes those back that it ends. Output is judged once the
// emulator has it.
func (v *viewer) correct(e client.Event) error {
	if v.sent == nil {
		return nil
	}
	err := v.predictSent()
	p, now := &v.predictor, time.Now()
	p.heard = now
	switch {
	case err != nil, e.Kind == client.KindData:
		return err
	case e.Kind != client.KindMeta:
		p.reset(now)
	default:
		if e.Meta.Viewer != "" {
			v.viewer, p.blocked = e.Meta.Viewer, false
		}
		if c := e.Meta.Control; c != nil {
			p.blocked = c.Holder != nil && *c.Holder != v.viewer
			p.reset(now)
		}
		if e.Meta.Input != nil {
			p.change(*e.Meta.Input, now)
		}
	}
	return v.showPrediction()
}

// confirm holds the predictions against output that the emulator has. The caller draws.
func (v *viewer) confirm() {
	if v.sent != nil {
		v.predictor.output(time.Now(), v.display.place)
		v.plan()
	}
}

// forgetPredictions takes all back at the end of a connection.
func (v *viewer) forgetPredictions() error {
	if v.sent == nil {
		return nil
	}
	p := &v.predictor
	p.reset(time.Now())
	p.mode, p.rtt, p.blocked, v.pinged = predictor{}.mode, 0, false, 0
	return v.bare()
}

// bare shows the terminal without predictions, at once.
func (v *viewer) bare() error {
	drawn := v.display.predicted != prediction{}
	v.display.predicted = prediction{}
	if drawn && !v.display.direct && !v.stale {
		return v.drew(v.display.paint())
	}
	return v.write(nil)
}

// plan takes over what the predictor has to show, and sets the time for its recheck.
func (v *viewer) plan() {
	v.display.predicted = v.predictor.shown(v.display.place)
	if at, ok := v.predictor.due(); ok {
		v.recheck.Reset(time.Until(at))
	}
}

// showPrediction draws what the predictor has to show.
func (v *viewer) showPrediction() error {
	before := v.display.predicted
	v.plan()
	switch {
	case v.stale || !v.shown: // drawing comes
	case v.display.direct:
		return v.write(nil)
	case before != v.display.predicted:
		v.drawSoon(0)
	}
	return nil
}

// overlay is what draws a prediction on a terminal that shows the rest already, and what takes it back exactly.
type overlay struct{ draw, undo string }

// overlay is of what is predicted now. It is empty where it could not be taken back exactly, and in a painted window,
// whose rows have it.
func (d *display) overlay() (o overlay) {
	p := d.predicted
	if p == (prediction{}) || !d.direct || !d.atRest() {
		return o
	}
	f := d.engine.Freeze()
	s := f.Active()
	row := s.Lines[s.Y]
	if !drawsPlainly(f) || !repaintable(row, p.at, p.at+len(p.text)+p.blank) {
		return o
	}
	back := fmt.Sprintf("\x1b[%dG", s.X+1)
	if f.LastChar != 0 { // REP would repeat it, and a mark would join it: it has to be what came last
		last := row.Cell(s.X - 1)
		if last.Text != string(f.LastChar) || f.LastChar >= utf8.RuneSelf {
			return o
		}
		back = fmt.Sprintf("\x1b[%dG%s", s.X, last.Text)
	}
	o.draw = fmt.Sprintf("\x1b[%dG%s\x1b[%dG", p.at+1, p.paint(), p.cursor+1)
	if n := len(p.text) + p.blank; n > 0 {
		o.undo = fmt.Sprintf("\x1b[%dG\x1b[%dX%s", p.at+1, n, snapshot.PaintRow(row, p.at, n))
	}
	if f.Pen != (vt.Style{}) {
		o.undo = "\x1b[m" + o.undo + "\x1b[" + f.Pen.SGR() + "m"
	}
	o.undo += back
	return o
}

// paint is what paints p from its column on, whatever the pen is that has no underline.
func (p prediction) paint() (s string) {
	if p.text != "" {
		s = "\x1b[4m" + p.text + "\x1b[24m"
	}
	if p.blank > 0 {
		s += fmt.Sprintf("\x1b[%dX", p.blank)
	}
	return s
}

// overRow is what paints a prediction over the cursor's row in a painted window.
func (d *display) overRow(f *vt.Frame) string {
	p := d.predicted
	if p == (prediction{}) || f.Modes.CursorHidden {
		return ""
	}
	p.text = p.text[min(max(d.x-p.at, 0), len(p.text)):]
	return fmt.Sprintf("\x1b[%dG%s", max(p.at-d.x, 0)+1, p.paint())
}

// cursorX is the column that the cursor is shown in.
func (d *display) cursorX(f *vt.Frame) int {
	if d.predicted != (prediction{}) {
		return d.predicted.cursor
	}
	return f.Active().X
}

// drawsPlainly reports whether characters printed now replace those in their cells, and nothing else happens.
func drawsPlainly(f *vt.Frame) bool {
	s, m, set := f.Active(), f.Modes, f.Charsets.G[f.Charsets.GL]
	pen := f.Pen
	pen.FG, pen.BG, pen.Attr = 0, 0, pen.Attr&vt.Protected
	return !m.Origin && !m.Insert && !m.CursorHidden && !m.SyncOutput && !s.PendingWrap &&
		(set == 0 || set == 'B') && f.Invoked == 0 && f.Extended == nil && pen == (vt.Style{})
}

// repaintable reports whether PaintRow makes the columns from from to to exactly as they are, on erased cells: there
// are neither links nor characters of two columns or none, and blanks are plain.
func repaintable(l vt.Line, from, to int) bool {
	x := 0
	for s := range l.Spans() {
		begin := x
		x += s.Cells
		blank := s.Kind == vt.Blank && s.Style == vt.Style{BG: s.Style.BG}
		text := (s.Kind == vt.ASCII || s.Kind == vt.Narrow) && s.Style.Link == vt.Link{}
		if begin < to && x > from && !blank && !text {
			return false
		}
	}
	return true
}

// place is what the cursor has around it.
func (d *display) place() place {
	f := d.engine.Freeze()
	s := f.Active()
	row, left := s.Lines[s.Y], strings.Builder{}
	for x := range s.X {
		if c := row.Cell(x); c.Width > 0 {
			left.WriteString(cmp.Or(c.Text, " "))
		}
	}
	// A suggestion of fish or zsh, which has a colour or is dim, is overwritten and not pushed.
	at := row.Cell(s.X)
	pushes := strings.TrimSpace(at.Text) != "" && at.Style.FG == 0 && at.Style.Attr&vt.Dim == 0
	return place{left.String(), s.X, f.Cols, pushes, f.Alt != nil}
}
