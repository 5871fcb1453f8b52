package vt10x

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"unicode/utf8"

	lib "github.com/hinshun/vt10x"

	"github.com/evertty/evertty/vt"
)

// flushAt is how many bytes may wait for the library before the next sequence.
// It is called once for many, because a call costs as much as several characters.
const flushAt = 4 << 10

// row is what the library does not keep of a row.
type row struct {
	used    int  // every cell from here on is erased in the default style
	wrapped bool // continues the row above
}

// grid is a rectangle of cells kept by the library. All coordinates given to it
// lie inside, all counts are positive: that is the callers' part of never
// letting the library panic or hang. Its cursor, pen and margins are the
// library's, which follow when they have to; the terminal's own are in screen.
type grid struct {
	cols, rows int
	row        []row

	lib         lib.Terminal
	in          []byte // what the library has not read yet
	x, y        int    // its cursor; x < 0 when unknown
	pen         look
	top, bottom int // its scroll region
}

func newGrid(cols, rows int) *grid {
	g := &grid{cols: cols, rows: rows, row: make([]row, rows)}
	g.restart()
	return g
}

// restart gives the grid a fresh, blank library.
func (g *grid) restart() {
	g.lib = lib.New(lib.WithSize(g.cols, g.rows), lib.WithWriter(io.Discard))
	g.in = append(g.in[:0], "\x1b[?7l"...) // wrapping is the engine's work
	g.x, g.y, g.pen = 0, 0, erased
	g.top, g.bottom = 0, g.rows-1
	clear(g.row)
}

// relieve flushes when much waits.
func (g *grid) relieve() {
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
			slog.Warn("vt10x: the library panicked and was reset", "panic", fmt.Sprint(v), "cols", g.cols, "rows", g.rows)
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

// at moves the library's cursor in the shortest way.
func (g *grid) at(x, y int) {
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

// use sets the library's pen.
func (g *grid) use(l look) {
	if g.pen == l {
		return
	}
	g.pen = l
	switch {
	case l == erased:
		g.csi('m', 39)
	case l < 8:
		g.csi('m', 30+int(l))
	case l < 16:
		g.csi('m', 90-8+int(l))
	case l < 256:
		g.csi('m', 38, 5, int(l))
	default:
		g.csi('m', 38, 2, int(l>>16), int(l>>8&0xff), int(l&0xff))
	}
}

// put prints text, n characters that end in this row.
func (g *grid) put(x, y int, text []byte, n int, l look) {
	g.at(x, y)
	g.use(l)
	g.in = append(g.in, text...)
	g.x = min(x+n, g.cols-1)
	g.row[y].used = max(g.row[y].used, x+n)
}

// erase makes cells x0 to x1-1 of a row blanks of look l.
func (g *grid) erase(y, x0, x1 int, l look) {
	r := &g.row[y]
	if x0 >= x1 || l == erased && x0 >= r.used {
		return
	}
	g.at(x0, y)
	g.use(l)
	g.csi('X', x1-x0)
	switch {
	case l != erased:
		r.used = max(r.used, x1)
	case x1 >= r.used:
		r.used = x0
	}
}

// eraseRows makes rows y0 to y1 blank and ends their wrapping.
func (g *grid) eraseRows(y0, y1 int, l look) {
	if y0 == 0 && y1 == g.rows-1 && (l != erased || slices.ContainsFunc(g.row, func(r row) bool { return r.used > 0 })) {
		g.use(l)
		g.csi('J', 2)
	} else {
		for y := y0; y <= y1; y++ {
			g.erase(y, 0, g.cols, l)
		}
	}
	g.blank(y0, y1, l)
}

// blank notes that rows y0 to y1 hold nothing but look l.
func (g *grid) blank(y0, y1 int, l look) {
	r := row{}
	if l != erased {
		r.used = g.cols
	}
	for y := y0; y <= y1; y++ {
		g.row[y] = r
	}
}

// scrollUp moves rows top to bottom up by n; blanks of look l follow.
func (g *grid) scrollUp(top, bottom, n int, l look) {
	n = min(n, bottom-top+1)
	g.region(top, bottom)
	if n == 1 && l == erased {
		if g.x < 0 || g.y != bottom {
			g.at(0, bottom)
		}
		g.in = append(g.in, '\n') // the library's line feed erases with its default pen
	} else {
		g.use(l)
		g.csi('S', n)
	}
	copy(g.row[top:], g.row[top+n:bottom+1])
	g.blank(bottom+1-n, bottom, l)
}

// scrollDown moves rows top to bottom down by n; blanks of look l come before.
func (g *grid) scrollDown(top, bottom, n int, l look) {
	n = min(n, bottom-top+1)
	g.region(top, bottom)
	g.use(l)
	g.csi('T', n)
	copy(g.row[top+n:bottom+1], g.row[top:])
	g.blank(top, top+n-1, l)
}

// region sets the library's margins, which homes its cursor.
func (g *grid) region(top, bottom int) {
	if g.top != top || g.bottom != bottom {
		g.csi('r', top+1, bottom+1)
		g.top, g.bottom, g.x, g.y = top, bottom, 0, 0
	}
}

// insert puts n blanks of look l before cell x and moves the rest right.
func (g *grid) insert(x, y, n int, l look) {
	r := &g.row[y]
	if l == erased && x >= r.used {
		return
	}
	n = min(n, g.cols-x)
	g.at(x, y)
	g.use(l)
	g.csi('@', n)
	r.used = min(max(r.used, x)+n, g.cols)
}

// remove takes out n cells from x on; blanks of look l follow at the end.
func (g *grid) remove(x, y, n int, l look) {
	r := &g.row[y]
	if l == erased && x >= r.used {
		return
	}
	g.at(x, y)
	g.use(l)
	g.csi('P', min(n, g.cols-x))
	if l != erased {
		r.used = g.cols
	}
}

// resize keeps what is left of each row and drops the uppermost rows when slide
// is positive, else the lowest.
func (g *grid) resize(cols, rows, slide int) {
	if slide > 0 {
		g.at(0, slide+rows-1) // the library drops as many rows as its cursor needs
		g.row = append(g.row[:0], g.row[slide:]...)
	} else {
		g.at(0, 0)
	}
	g.use(erased)
	g.flush()
	g.lib.Resize(cols, rows)
	g.row = append(g.row, make([]row, max(rows-len(g.row), 0))...)[:rows]
	for y := range g.row {
		g.row[y].used = min(g.row[y].used, cols)
	}
	g.cols, g.rows = cols, rows
	g.top, g.bottom, g.x = 0, rows-1, -1
}

// look returns the look of a cell. The library must have read everything.
func (g *grid) look(x, y int) look { return look(g.lib.Cell(x, y).FG) }

// mark notes the looks in use.
func (g *grid) mark(live []bool) {
	g.flush()
	if int(g.pen) < len(live) {
		live[g.pen] = true
	}
	for y := range g.row {
		for x := range g.row[y].used {
			if l := int(g.look(x, y)); l < len(live) {
				live[l] = true
			}
		}
	}
}

// line packs a row.
func (g *grid) line(y int, ls *looks, p *vt.Packer) vt.Line {
	g.flush()
	var run [256]byte
	text := run[:0]
	last, k := erased, kind{blank: true}
	for x := range g.row[y].used {
		c := g.lib.Cell(x, y)
		if l := look(c.FG); l != last {
			p.ASCII(text, k.style)
			text, last, k = text[:0], l, ls.kind(l)
		}
		switch {
		case k.blank:
			p.Blank(1, k.style)
		case c.Char < utf8.RuneSelf:
			text = append(text, byte(c.Char))
		default:
			p.ASCII(text, k.style)
			text = text[:0]
			p.Char(c.Char, 1, k.style)
		}
	}
	p.ASCII(text, k.style)
	return p.Line(g.row[y].wrapped)
}
