package snapshot

import (
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// finish places the cursor and sets what would have disturbed everything
// before: origin mode, pen, character sets, autowrap, insert mode and
// synchronized output.
func (p *painter) finish(f *vt.Frame) {
	s := f.Active()
	y := s.Y
	if f.Modes.Origin {
		p.add("\x1b[?6h")
		y = min(max(y, s.Top), s.Bottom) - s.Top
	}
	if c, ok := repeatable(f); ok {
		p.finalModes(f)
		if f.Modes.Insert {
			p.moveTo(c.x, y)
			p.csi(c.width, 'P') // the row closes up (DCH) and printing opens it again
		}
		p.close(f, c, y)
		return
	}
	wraps := s.PendingWrap && p.cols >= 2
	if wraps {
		p.close(f, cellAt(s.Lines[s.Y], s.X), y)
	} else {
		p.moveTo(s.X, y)
	}
	printed := len(p.out)
	p.setPen(f.Pen)
	p.finalModes(f)
	if wraps && len(p.out) == printed {
		p.add("\x1b[?7h") // already so; any sequence keeps REP from repeating what was printed
	}
}

// finalModes writes the states that change what printing does.
func (p *painter) finalModes(f *vt.Frame) {
	p.charsets(f.Charsets)
	if !f.Modes.Autowrap {
		p.add("\x1b[?7l")
	}
	if f.Modes.Insert {
		p.add("\x1b[4h")
	}
	if f.Modes.SyncOutput {
		p.private(2026)
	}
}

// repeatable is the cell before the cursor when it has to be the last thing
// printed, because REP would repeat it, and when printing it again changes
// nothing: it has the pen's style and comes through the character set unchanged.
func repeatable(f *vt.Frame) (c cell, ok bool) {
	s := f.Active()
	x := s.X - 1
	if s.PendingWrap {
		x = s.X
	}
	if f.LastChar == 0 || x < 0 || f.Cols < 2 {
		return cell{}, false
	}
	c = cellAt(s.Lines[s.Y], x)
	first, _ := utf8.DecodeRuneInString(c.text)
	last, _ := utf8.DecodeLastRuneInString(c.text)
	ok = c.text != "" && (first == f.LastChar || last == f.LastChar) && c.x+c.width == x+1 &&
		c.style == shown(f.Pen) && !beginsWithMark(c.text) && untranslated(c.text, f.Charsets) &&
		!(f.Modes.Insert && utf8.RuneCountInString(c.text) > 1) // a cluster grows over what follows instead of moving it
	c.style = f.Pen
	return c, ok
}

// shown is the style of a cell printed with pen: an underline colour waits for
// something to colour.
func shown(pen vt.Style) vt.Style {
	if pen.Underline == vt.UnderlineNone && pen.Link == (vt.Link{}) {
		pen.UnderlineColor = 0
	}
	return pen
}

// untranslated tells whether text comes out as it is while c is in force. No
// set replaces digits, capitals or the space, and none is asked for characters
// beyond ASCII.
func untranslated(text string, c vt.Charsets) bool {
	if c.G[c.GL] == 0 {
		return true
	}
	for _, r := range text {
		if same := r == ' ' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf; !same {
			return false
		}
	}
	return true
}
