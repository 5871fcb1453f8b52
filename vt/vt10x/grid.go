package vt10x

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"

	lib "github.com/hinshun/vt10x"

	"github.com/evertty/evertty/vt"
)

var _ vt.EngineFunc = New

// New makes an engine whose screens are the library's; it is a vt.EngineFunc.
func New(c vt.Config) vt.Engine {
	return vt.NewGridEngine(c, func(cols, rows int) vt.Grid { return newGrid(cols, rows) })
}

// flushAt is how many bytes may wait for the library before the next sequence.
// It is called once for many, because a call costs as much as several characters.
const flushAt = 4 << 10

// A cell's foreground colour is its style's number. ErasedStyle is the library's
// own default, so that its resets and line feeds make erased cells by themselves.
const erased = vt.ErasedStyle

var _ = [1]struct{}{}[erased-vt.StyleID(lib.DefaultFG)]

// grid is a vt.Grid whose cells the library keeps. It changes them by sequences
// that it writes itself, with coordinates inside and counts that are positive: others
// make the library panic or hang. Cursor, pen and margins here are the library's,
// which follow when they have to.
type grid struct {
	cols, rows int

	lib         lib.Terminal
	in          []byte // what the library has not read yet
	x, y        int    // its cursor; x < 0 when unknown
	pen         vt.StyleID
	top, bottom int // its scroll region
}

func newGrid(cols, rows int) *grid {
	g := &grid{cols: cols, rows: rows}
	g.restart()
	return g
}

// restart gives the grid a fresh, blank library.
func (g *grid) restart() {
	g.lib = lib.New(lib.WithSize(g.cols, g.rows), lib.WithWriter(io.Discard))
	g.in = append(g.in[:0], "\x1b[?7l"...) // wrapping is the engine's work
	g.x, g.y, g.pen = 0, 0, erased
	g.top, g.bottom = 0, g.rows-1
}

// flushFull flushes when much waits.
func (g *grid) flushFull() {
	if len(g.in) >= flushAt {
		g.flush()
	}
}

// flush lets the library read what waits. A panic costs the cells, not the
// server: the library starts again with a blank screen.
func (g *grid) flush() {
	if len(g.in) == 0 {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			slog.Warn("vt10x: the library panicked and was reset",
				"panic", fmt.Sprint(v), "cols", g.cols, "rows", g.rows)
			g.restart()
		}
	}()
	_, _ = g.lib.Write(g.in) // it never fails
	g.in = g.in[:0]
}

// csi queues CSI args final.
func (g *grid) csi(final byte, args ...int) {
	g.in = append(g.in, '\x1b', '[')
	for i, a := range args {
		if i > 0 {
			g.in = append(g.in, ';')
		}
		g.in = strconv.AppendInt(g.in, int64(a), 10)
	}
	g.in = append(g.in, final)
}

// moveTo moves the library's cursor in the shortest way.
func (g *grid) moveTo(x, y int) {
	if g.x >= 0 && g.y+1 == y && g.y != g.bottom && (x == 0 || x == g.x) {
		g.in = append(g.in, '\n')
		g.y++
	}
	switch {
	case g.x == x && g.y == y:
	case x == 0 && g.x >= 0 && g.y == y:
		g.in = append(g.in, '\r')
	default:
		g.csi('H', y+1, x+1)
	}
	g.x, g.y = x, y
}

// setPen sets the library's pen.
func (g *grid) setPen(style vt.StyleID) {
	if g.pen == style {
		return
	}
	g.pen = style
	switch {
	case style == erased:
		g.csi('m', 39)
	case style < 8:
		g.csi('m', 30+int(style))
	case style < 16:
		g.csi('m', 90-8+int(style))
	case style < 256:
		g.csi('m', 38, 5, int(style))
	default:
		g.csi('m', 38, 2, int(style>>16), int(style>>8&0xff), int(style&0xff))
	}
}

// edit queues one sequence that changes n cells from x, y on.
func (g *grid) edit(final byte, x, y, n int, style vt.StyleID) {
	g.moveTo(x, y)
	g.setPen(style)
	g.csi(final, n)
	g.flushFull()
}

// Put implements vt.Grid.
func (g *grid) Put(x, y int, text []byte, n int, style vt.StyleID) {
	g.moveTo(x, y)
	g.setPen(style)
	g.in = append(g.in, text...)
	g.x = min(x+n, g.cols-1)
	g.flushFull()
}

// Erase implements vt.Grid by ECH (ECMA-48 8.3.38).
func (g *grid) Erase(x, y, n int, style vt.StyleID) { g.edit('X', x, y, n, style) }

// EraseAll implements vt.Grid by ED (ECMA-48 8.3.39).
func (g *grid) EraseAll(style vt.StyleID) {
	g.setPen(style)
	g.csi('J', 2)
	g.flushFull()
}

// Insert implements vt.Grid by ICH (ECMA-48 8.3.64).
func (g *grid) Insert(x, y, n int, style vt.StyleID) { g.edit('@', x, y, n, style) }

// Delete implements vt.Grid by DCH (ECMA-48 8.3.26).
func (g *grid) Delete(x, y, n int, style vt.StyleID) { g.edit('P', x, y, n, style) }

// ScrollUp implements vt.Grid by SU (ECMA-48 8.3.147), or by a line feed, which
// the library erases with its default pen.
func (g *grid) ScrollUp(top, bottom, n int, style vt.StyleID) {
	g.region(top, bottom)
	if n == 1 && style == erased {
		if g.x < 0 || g.y != bottom {
			g.moveTo(0, bottom)
		}
		g.in = append(g.in, '\n')
	} else {
		g.setPen(style)
		g.csi('S', n)
	}
	g.flushFull()
}

// ScrollDown implements vt.Grid by SD (ECMA-48 8.3.113).
func (g *grid) ScrollDown(top, bottom, n int, style vt.StyleID) {
	g.region(top, bottom)
	g.setPen(style)
	g.csi('T', n)
	g.flushFull()
}

// region sets the library's margins, which homes its cursor.
func (g *grid) region(top, bottom int) {
	if g.top != top || g.bottom != bottom {
		g.csi('r', top+1, bottom+1)
		g.top, g.bottom, g.x, g.y = top, bottom, 0, 0
	}
}

// Resize implements vt.Grid.
func (g *grid) Resize(cols, rows, drop int) {
	if drop > 0 {
		g.moveTo(0, drop+rows-1) // the library drops as many rows as its cursor needs
	} else {
		g.moveTo(0, 0)
	}
	g.setPen(erased)
	g.flush()
	g.lib.Resize(cols, rows)
	g.cols, g.rows = cols, rows
	g.top, g.bottom, g.x = 0, rows-1, -1
}

// Cell implements vt.Grid.
func (g *grid) Cell(x, y int) (c rune, style vt.StyleID) {
	g.flush()
	cell := g.lib.Cell(x, y)
	return cell.Char, vt.StyleID(cell.FG)
}
