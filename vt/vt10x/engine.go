package vt10x

import "github.com/evertty/evertty/vt"

var _ vt.New = New

// engine implements vt.Engine; see the package comment.
type engine struct {
	cfg vt.Config
	in  vt.Stream

	looks  *looks
	main   *screen
	alt    *screen // nil until it is first needed
	cur    *screen // main or alt
	hist   history
	packer vt.Packer

	modes       vt.Modes
	pen         vt.Pen
	penLooks    penLooks
	charsets    vt.CharsetState
	cursorStyle vt.CursorStyle
	labels      vt.Labels
}

// New makes an engine with the library behind it.
func New(c vt.Config) vt.Engine {
	c = c.Clamped()
	e := &engine{cfg: c, looks: newLooks(), main: newScreen(c.Cols, c.Rows), modes: vt.DefaultModes()}
	e.hist.limit = c.Scrollback
	e.cur = e.main
	e.charsets.Reset()
	return e
}

// Write implements vt.Engine.
func (e *engine) Write(p []byte) []byte { return e.in.Write(p, (*handler)(e)) }

// Flush implements vt.Engine.
func (e *engine) Flush() []byte { return e.in.Flush((*handler)(e)) }

// Held implements vt.Engine.
func (e *engine) Held() int { return e.in.Held() }

// AtRest implements vt.Engine.
func (e *engine) AtRest() bool { return e.in.Held() == 0 && !e.in.Open() }

// Modes implements vt.Engine.
func (e *engine) Modes() vt.Modes { return e.modes }

// handler is the engine as its stream sees it.
type handler engine

// Print implements vt.Handler.
func (h *handler) Print(text []byte, ascii bool) {
	e := (*engine)(h)
	e.print(text, ascii)
	e.cur.relieve()
}

// Control implements vt.Handler.
func (h *handler) Control(c rune) {
	e := (*engine)(h)
	e.control(c)
	e.cur.relieve()
}

// Escape implements vt.Handler.
func (h *handler) Escape(f vt.Function) {
	e := (*engine)(h)
	e.escape(f)
	e.cur.relieve()
}

// CSI implements vt.Handler.
func (h *handler) CSI(f vt.Function) {
	e := (*engine)(h)
	e.csi(f)
	e.cur.relieve()
}

// Resume implements vt.Engine. The engine saves no modes.
func (e *engine) Resume(f *vt.Frame) {
	for i, on := range f.Modes.Unshown() {
		*e.modes.Unshown()[i] = *on
	}
	e.labels.Resume(f)
}

// OSC implements vt.Handler.
func (h *handler) OSC(text []byte) {
	if link, ok := h.labels.OSC(&h.in, text, h.cfg.Effects); ok {
		h.pen.SetLink(link)
		(*engine)(h).penChanged()
	}
}

// DCS implements vt.Handler.
func (h *handler) DCS(text []byte) {
	e := (*engine)(h)
	e.reply(e.status().DCS(text))
}

// base is the number of lines above the screen shown; a saved row counts them.
func (e *engine) base() int {
	if e.cur == e.main {
		return e.hist.len()
	}
	return 0
}

// restrict is vt.Cursor.Restrict of the screen shown.
func (e *engine) restrict() { e.cur.Restrict(e.modes.Origin) }

// reach is vt.Cursor.Reach of the screen shown.
func (e *engine) reach() { e.cur.Reach(e.modes.Origin) }

// status is what programs can ask for. No width table is named, because the
// engine uses none.
func (e *engine) status() *vt.Status {
	s := e.cur
	return &vt.Status{
		Cols: s.Cols, Rows: s.Rows, X: min(s.X, s.Cols-1), Y: s.Y, Top: s.Top, Bottom: s.Bottom,
		Modes: e.modes, Pen: e.pen.Style(), CursorStyle: e.cursorStyle,
	}
}

// reply gives an answer to the program, and takes the query out of the viewers'
// text. Without an answer it does nothing.
func (e *engine) reply(answer []byte) {
	if len(answer) == 0 {
		return
	}
	if f := e.cfg.Effects.Reply; f != nil {
		f(answer)
	}
	e.in.Cut()
}
