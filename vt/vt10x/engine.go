package vt10x

import (
	"fmt"
	"log/slog"

	lib "github.com/hinshun/vt10x"

	"github.com/evertty/evertty/vt"
)

var _ vt.EngineFunc = New

// engine is a Terminal with the library as the screen that is shown. What it does not
// override is the Terminal's alone.
type engine struct {
	*vt.Terminal
	lib    lib.Terminal
	cols   int
	rows   int
	text   []byte // scratch
	open   byte   // the text ends behind ESC or inside a control sequence: esc, '[', unknown; else 0
	packer vt.Packer

	// stale: the library lacks output, or could not read it. It reads nothing until it is painted
	// again, at the next Freeze: output that makes it panic costs no painting each time.
	stale    bool
	panicked bool // and that was logged
	dropped  bool // see TextDropped
}

// New makes an engine whose screen is the library's; it is a vt.EngineFunc.
func New(c vt.Config) vt.Engine {
	e := &engine{Terminal: vt.New(c)}
	e.cols, e.rows = e.Size()
	e.lib = lib.New(lib.WithSize(e.cols, e.rows))
	return e
}

// Write implements vt.Engine.
func (e *engine) Write(p []byte) []byte { return e.show(e.Terminal.Write(p)) }

// WriteSome implements vt.Engine.
func (e *engine) WriteSome(p []byte, work int) (text []byte, n int) {
	text, n = e.Terminal.WriteSome(p, work)
	return e.show(text), n
}

// Flush implements vt.Engine.
func (e *engine) Flush() []byte { return e.show(e.Terminal.Flush()) }

// TextDropped implements vt.Engine.
func (e *engine) TextDropped() bool {
	dropped := e.dropped
	e.dropped = false
	return dropped
}

// Resize implements vt.Engine. Only the same size is exact.
func (e *engine) Resize(cols, rows int) (exact bool) {
	oldCols, oldRows := e.cols, e.rows
	e.Terminal.Resize(cols, rows)
	if e.cols, e.rows = e.Size(); e.cols == oldCols && e.rows == oldRows {
		return true
	}
	e.stale = true
	return false
}

// Restore implements vt.Engine.
func (e *engine) Restore(f *vt.Frame) bool {
	ok := e.Terminal.Restore(f)
	e.stale = e.stale || ok
	return ok
}

// Restorable implements vt.Engine: the library has states that nobody can read.
func (e *engine) Restorable() bool { return false }

// glyphSize is what a cell takes in the library, which keeps two screens.
const glyphSize = 2 * 16 // bytes

// Memory implements vt.Engine. The library's cells are not part of Config.Memory.
func (e *engine) Memory() int { return e.Terminal.Memory() + e.cols*e.rows*glyphSize }

// Freeze implements vt.Engine: the Terminal's frame with the library's cells and cursor on
// the screen that is shown.
func (e *engine) Freeze() *vt.Frame {
	f := e.Terminal.Freeze()
	if e.stale {
		e.lib, e.stale, e.open = lib.New(lib.WithSize(e.cols, e.rows)), false, 0
		if e.write(e.translate(nil, paint(f))); e.stale {
			return f
		}
	}
	s := f.Active()
	wrapped := len(s.Lines) > 0 && s.Lines[0].Wrapped()
	lines := make([]vt.Line, e.rows)
	for y := range lines {
		lines[y] = e.line(y, wrapped)
		wrapped = e.lib.Cell(e.cols-1, y).Mode&glyphWrap != 0
	}
	c := e.lib.Cursor()
	s.Lines, s.X, s.Y = lines, c.X, c.Y
	s.PendingWrap, s.Beyond = c.State&cursorWrapNext != 0, false
	return f
}

const (
	esc     = 0x1b
	unknown = 0xff // engine.open in a control sequence that the library would take for another one
	noFinal = '|'  // ends a control sequence that does nothing
)

// show gives the library the viewers' text and returns that.
func (e *engine) show(text []byte) []byte {
	if e.Terminal.TextDropped() {
		e.dropped, e.stale = true, true
	}
	if !e.stale {
		e.text = e.translate(e.text[:0], text)
		e.write(e.text)
	}
	return text
}

// write has the library read text. After a panic it is stale.
func (e *engine) write(text []byte) {
	defer func() {
		if v := recover(); v != nil {
			e.stale = true
			if !e.panicked {
				slog.Warn("vt10x: the library panicked and is painted anew",
					"panic", fmt.Sprint(v), "cols", e.cols, "rows", e.rows)
			}
			e.panicked = true
		}
	}()
	_, _ = e.lib.Write(text) // it never fails
}

// translate appends text in the form that the library knows. It keeps in e.open where the text
// ends.
//   - C1 controls become ESC and a letter (ECMA-35 15.2).
//   - CAN and SUB become ESC \, which ends an open sequence.
//   - A character beyond ASCII inside of a control sequence becomes part of an escape sequence that does
//     nothing. The library takes its last byte for the end of the control sequence.
//   - A control sequence with an intermediate, a prefix other than ?, or a colon does nothing: the library
//     would take it for one without.
//   - An escape sequence with an intermediate is one that does nothing: the library knows it for G0 alone.
func (e *engine) translate(out, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == 0xc2 && text[i+1] < 0xa0 {
			i++
			out, c, e.open = append(out, esc), text[i]-0x40, esc
		}
		switch {
		case c == esc:
			e.open = esc
		case c == 0x18 || c == 0x1a:
			out, c, e.open = append(out, esc), '\\', 0
		case c >= 0x80 && (e.open == '[' || e.open == unknown):
			out, e.open = append(out, esc, '#'), 0
		case e.open == esc && c >= ' ':
			e.open = 0
			switch {
			case c == '[':
				e.open = '['
			case c == 'c': // its RIS leaves a part of a wide screen
				e.stale = true
			case c < '0' && c != '(':
				c = '#'
			}
		case e.open == '[' && (c >= ' ' && c < '0' || c == ':' || c >= '<' && c <= '>'):
			e.open = unknown
		case e.open == unknown && c >= '@':
			e.stale = e.stale || c == 'p' // it has no DECSTR
			e.open, c = 0, noFinal
		case e.open == '[' && c >= '@':
			e.open, e.stale = 0, e.stale || c == 'b' // it has no REP
		}
		out = append(out, c)
	}
	return out
}
