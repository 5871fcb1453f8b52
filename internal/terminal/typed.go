package terminal

import (
	"encoding/json"

	"github.com/evertty/evertty/internal/terminal/echo"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Typed is what was typed lately.
func (p *program) Typed() *echo.Typed { return &p.typed }

// noteInput remembers input that is about to be written in a mode, and returns the position of the
// output just before. It does not remember what a terminal without echo gets: a password.
func (p *program) noteInput(data []byte, mode pty.LineMode) uint64 {
	if h := p.t.now(); h != nil { // a terminal whose screen is not there yet has no viewers
		h.InputMayChange()
	}
	seq := p.t.facts().Seq
	text := mode.Echo || !mode.Canonical
	p.typed.Note(data, seq, text)
	if group, err := p.process.Foreground(); err == nil {
		p.typed.NoteLine(data, echo.Place{Group: group, Editing: mode.Editing}, text)
	}
	return seq
}

// inputMode is stream.Hooks.InputMode. What a provider's terminal does is not known: the one here passes all on.
func (p *program) inputMode() (m wire.InputMode, ok bool) {
	if p.process == nil || p.t.spec.Provider != "" {
		return m, false
	}
	mode, err := p.process.Master().LineMode()
	return wire.InputMode{Echo: mode.Echo, Canonical: mode.Canonical, Editing: mode.Editing}, err == nil
}

// noteEmptyLine notes what is shown where a line was begun, before the first output behind that.
func (p *program) noteEmptyLine() {
	if p.typed.LineBegun() {
		f := p.t.Hub().Snapshot().Frame
		p.typed.Before(vt.TextFromCursorLine(f), vt.TextBeforeCursor(f).Text)
	}
}

// keepTyped keeps on disk that a line was begun and not submitted, or that none is any more, where
// that has changed: a server that comes after kill -9 knows it. The disk may be slow: the program and
// the viewers have what came before.
func (p *program) keepTyped() {
	p.typedKeeping.Lock()
	defer p.typedKeeping.Unlock()
	u := p.typed.Unfinished()
	if u == p.keptLine() {
		return
	}
	var data []byte
	if u != (echo.Unfinished{}) {
		data, _ = json.Marshal(u) // numbers and a string
	}
	if err := p.t.registry.cfg.Store.SaveTyped(p.t.ID, data); err == nil {
		p.typedKept.Store(&u) // else the next server takes the line for empty
	}
}

// keepTypedSoon is keepTyped by a goroutine of its own, where there is something to keep: neither output nor a key
// waits for the disk.
func (p *program) keepTypedSoon() {
	if p.typed.Unfinished() == p.keptLine() || p.typedDue.Swap(true) {
		return
	}
	keep := func() {
		p.typedDue.Store(false)
		p.keepTyped()
	}
	if !p.t.registry.life.TryGo(keep) { // the server ends
		keep()
	}
}

// keptLine is what is on disk.
func (p *program) keptLine() echo.Unfinished {
	if u := p.typedKept.Load(); u != nil {
		return *u
	}
	return echo.Unfinished{}
}

// resumeTyped goes on with the line that the previous server has kept.
func (p *program) resumeTyped() {
	data, err := p.t.registry.cfg.Store.LoadTyped(p.t.ID)
	var u echo.Unfinished
	if err != nil || json.Unmarshal(data, &u) != nil {
		return // there is none
	}
	p.typed.Resume(u)
	p.typedKept.Store(&u)
}
