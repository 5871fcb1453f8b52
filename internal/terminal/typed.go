package terminal

import (
	"encoding/json"

	"github.com/evertty/evertty/internal/terminal/echo"
	"github.com/evertty/evertty/vt"
)

// Typed is what was typed lately.
func (t *Terminal) Typed() *echo.Typed { return &t.typed }

// noteInput remembers input that is about to be written, and returns the position of the
// output just before. It does not remember what a terminal without echo gets: a password.
func (t *Terminal) noteInput(p []byte) uint64 {
	mode, err := t.process.Master().LineMode()
	seq := t.facts().Seq
	text := err == nil && (mode.Echo || !mode.Canonical)
	t.typed.Note(p, seq, text)
	if group, err := t.process.Foreground(); err == nil {
		t.typed.NoteLine(p, echo.Place{Group: group, Editing: mode.Editing}, text)
	}
	return seq
}

// noteEmptyLine notes what is shown where a line was begun, before the first output behind that.
func (t *Terminal) noteEmptyLine() {
	if t.typed.LineBegun() {
		f := t.Hub().Snapshot().Frame
		t.typed.Before(vt.TextFromCursorLine(f), vt.TextBeforeCursor(f).Text)
	}
}

// keepTyped keeps on disk that a line was begun and not submitted, or that none is any more, where
// that has changed: a server that comes after kill -9 knows it. The disk may be slow: the program and
// the viewers have what came before.
func (t *Terminal) keepTyped() {
	t.typedKeeping.Lock()
	defer t.typedKeeping.Unlock()
	u := t.typed.Unfinished()
	if u == t.typedKept {
		return
	}
	var p []byte
	if u != (echo.Unfinished{}) {
		p, _ = json.Marshal(u) // numbers and a string
	}
	if err := t.registry.cfg.Store.SaveTyped(t.ID, p); err == nil { // else the next server takes the line for empty
		t.typedKept = u
	}
}

// resumeTyped goes on with the line that the previous server has kept.
func (t *Terminal) resumeTyped() {
	p, err := t.registry.cfg.Store.LoadTyped(t.ID)
	var u echo.Unfinished
	if err != nil || json.Unmarshal(p, &u) != nil {
		return // there is none
	}
	t.typed.Resume(u)
	t.typedKept = u
}
