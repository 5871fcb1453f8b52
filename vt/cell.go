package vt

// cell is one cell of a row in cell form: what it shows in the lower half, the
// number of its style in the upper. The zero value is a blank in the default
// style, so clearing memory clears cells.
//
// The lower half is a code point, or with cellCluster an index of its row's clusters;
// 0 is a blank. A character two cells wide is a cellWide and a cellTail behind
// it; when a program overwrites the first half only, a tail without a head
// is left, which shows nothing.
type cell uint64

const (
	cellChar    cell = 1<<21 - 1
	cellCluster cell = 1 << 21
	cellWide    cell = 1 << 22
	cellTail    cell = 1 << 23
	cellMark    cell = 1 << 24 // a character without width in a cell of its own

	cellContent = cellChar | cellCluster // what xterm.js calls content
	cellStyle   = 32                     // shift of the style's number
)

// blankCell is an erased cell.
func blankCell(style uint32) cell { return cell(style) << cellStyle }

func (c cell) style() uint32    { return uint32(c >> cellStyle) }
func (c cell) wide() bool       { return c&cellWide != 0 }
func (c cell) hasContent() bool { return c&cellContent != 0 }

// zeroWidth reports whether xterm.js gives the cell no width.
func (c cell) zeroWidth() bool { return c&(cellTail|cellMark) != 0 }

// tail reports whether the cell is the second half of a wide character, or was.
func (c cell) tail() bool { return c&cellTail != 0 }

// newCell is a cell with a character of 0, 1 or 2 cells.
func newCell(r rune, width int, style uint32) cell {
	c := cell(r) | blankCell(style)
	switch width {
	case 0:
		if r == 0 {
			return c | cellTail
		}
		return c | cellMark
	case 2:
		return c | cellWide
	}
	return c
}
