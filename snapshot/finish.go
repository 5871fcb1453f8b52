package snapshot

import (
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// finish places the cursor and sets what would have disturbed everything
// before: origin mode, pen, character sets, autowrap, insert mode and
// synchronized output.
func (p *painter) finish(f *vt.Frame) {
	_, early := recalledBelow(f)
	s := f.Active()
	y := s.Y
	if !early || f.Extended == nil {
		p.openWhereNoted(f)
	}
	if f.Modes.Origin {
		p.add("\x1b[?6h")
		y = min(max(y, s.Top), s.Bottom) - s.Top
	}
	wraps := s.PendingWrap && p.cols >= 2
	c, ok := repeatable(f)
	var last *cell
	carried := false
	if wraps && !ok {
		c = cellAt(s.Lines[s.Y], s.X)
		carried = c.text == "" && f.Alt == nil
		if early {
			c.text, _ = vt.Untranslate(p.set, c.text)
		}
		if !carried {
			last = &c
		}
	}
	how, recalls := recalled(f, last)
	if recalls && !early {
		p.recall(f, &how, y)
	}
	hasSets := f.Invoked != 0 && (recalls || early)
	if ok {
		p.finalModes(f, hasSets)
		if f.Modes.Insert {
			p.moveTo(c.x, y)
			p.csi(c.width, 'P') // the row closes up (DCH) and printing opens it again
		}
		p.close(f, c, y)
		return
	}
	switch {
	case carried, f.Modes.Origin && f.Alt == nil && !wraps && (s.Y < s.Top || s.Y > s.Bottom):
		p.carry(s.X, s.Y, carried)
	case wraps && recalls && !early:
	case wraps:
		p.close(f, c, y)
	default:
		p.moveTo(s.X, y)
	}
	printed := len(p.out)
	p.setPen(f.Pen)
	p.finalModes(f, hasSets)
	if wraps && len(p.out) == printed {
		p.add("\x1b[?7h") // already so; any sequence keeps REP from repeating what was printed
	}
	if wraps && s.Beyond && !p.clusters {
		p.add("\u0300")
	}
}

// carry places the cursor on the alternate screen, which has no margins and is blank,
// and leaves that: the cursor is taken along, with a wrap that is pending there.
func (a *ansiWriter) carry(x, y int, wraps bool) {
	a.add("\x1b[?1047h")
	a.moveTo(x, y)
	if wraps {
		a.add(" ")
	}
	a.add("\x1b[?1047l")
}

// finalModes writes the states that change what printing does. hasSets: the
// character sets are right already.
func (a *ansiWriter) finalModes(f *vt.Frame, hasSets bool) {
	if !hasSets {
		a.charsets(printingSets(f), 0)
	}
	a.sequences(sequence{!f.Modes.Autowrap, "\x1b[?7l"}, sequence{f.Modes.Insert, "\x1b[4h"},
		sequence{f.Modes.SyncOutput, "\x1b[?2026h"})
}

// printingSets are f's character sets with the one in force in the place of the
// invoked one.
func printingSets(f *vt.Frame) vt.Charsets {
	c := f.Charsets
	if f.Invoked != 0 {
		c.G[c.GL] = f.Invoked
	}
	return c
}

// repeatable is the cell before the cursor when it has to be the last thing
// printed, because REP would repeat it, and when printing it again changes
// nothing: it has the pen's style, and a character leads to it in the character
// set in force. Its text is that character.
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
	ok = c.text != "" && (first == f.LastChar || last == f.LastChar) && c.x+c.width == x+1 && c.style == shown(f.Pen)
	if f.Unicode == vt.Unicode15Graphemes {
		// A cluster grows over what follows instead of moving it.
		ok = ok && !beginsWithMark(c.text) && !(f.Modes.Insert && utf8.RuneCountInString(c.text) > 1)
	}
	c.style = f.Pen
	if ok {
		sets := printingSets(f)
		c.text, ok = vt.Untranslate(sets.G[sets.GL], c.text)
	}
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

// untranslated reports whether text comes out as it is while c is in force.
func untranslated(text string, c vt.Charsets) bool {
	same, ok := vt.Untranslate(c.G[c.GL], text)
	return ok && same == text
}
