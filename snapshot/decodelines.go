package snapshot

import (
	"fmt"

	"github.com/evertty/evertty/vt"
)

// history reads the lines that scrolled off. They may be wider than the screen.
func (d *decoder) history() error {
	n := d.u32()
	if n > vt.MaxScrollback || uint64(n) > uint64(len(d.rest)) {
		return fmt.Errorf("%w: %d lines in %d bytes", ErrCorrupt, n, len(d.rest))
	}
	if n == 0 {
		return nil
	}
	lines, err := vt.ParseLines(d.rest, int(n), vt.MaxSize)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	d.frame.History = lines
	return nil
}

func (d *decoder) screen(s *vt.Screen) (err error) {
	s.X, s.Y = d.u16(), d.u16()
	flags := d.u8()
	s.Top, s.Bottom = d.u16(), d.u16()
	s.PendingWrap, s.Beyond = flags&flagPendingWrap != 0, flags&flagBeyond != 0
	s.Saved = vt.SavedCursor{
		X: d.u16(), Y: d.u16(), Charsets: d.charsets(),
		Set: flags&flagSaved != 0, PendingWrap: flags&flagSavedWrap != 0, Beyond: flags&flagSavedBeyond != 0,
		Origin: flags&flagSavedOrigin != 0,
	}
	if s.Saved.Pen, err = d.style(); err != nil {
		return err
	}
	stops := d.uv()
	if stops > maxTab+1 {
		return fmt.Errorf("%w: %d tab stops", ErrCorrupt, stops)
	}
	if flags&flagTabs != 0 {
		s.Tabs = make([]int, 0, stops)
	}
	for range stops {
		s.Tabs = append(s.Tabs, d.u16())
	}
	stack := d.uv()
	if stack > maxKitty {
		return fmt.Errorf("%w: keyboard stack of %d", ErrCorrupt, stack)
	}
	s.Kitty = []uint8(d.take(stack))
	if len(s.Kitty) == 0 {
		s.Kitty = nil
	}
	s.Lines, err = d.lines(d.frame.Rows, d.frame.Cols)
	return err
}

// lines reads n lines of at most cols columns. A line takes at least one byte,
// so n must have been compared with the bytes left.
func (d *decoder) lines(n, cols int) ([]vt.Line, error) {
	if n > len(d.rest) {
		d.short = true
		return nil, nil
	}
	out := make([]vt.Line, n)
	for i := range out {
		size := d.uv()
		packed := d.take(size >> 1)
		if d.short {
			return nil, fmt.Errorf("%w: cut short in line %d", ErrCorrupt, i)
		}
		l, err := vt.ParseLine(packed, size&1 != 0, cols)
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrCorrupt, i, err)
		}
		out[i] = l
	}
	return out, nil
}
