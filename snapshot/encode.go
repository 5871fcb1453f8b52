package snapshot

import (
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/evertty/evertty/vt"
)

// Encode returns the snapshot file of f, which Decode reads back. It first brings f within the
// limits of the format. A history that does not fit into MaxFile loses its oldest lines. The
// caller owns the result.
func Encode(h Header, f *vt.Frame) []byte {
	f = normalize(f)
	e := encoder{budget: MaxFile - minFile - 4*recordTop}
	e.small(f)
	e.screen(tagMain, &f.Main, f.Cols)
	if f.Alt != nil {
		e.screen(tagAlt, f.Alt, f.Cols)
	}
	if f.Hidden != nil {
		e.screen(tagHidden, f.Hidden, f.Cols)
	}
	e.savedCursors(f)
	e.open(f.Open)
	history := e.fitting(f.History)
	out := make([]byte, 0, headSize+len(e.out)+e.taken+recordTop+4+crcSize)
	out = appendHead(out, h, f)
	out = append(out, e.out...)
	out = appendHistory(out, history)
	binary.LittleEndian.PutUint32(out[12:], uint32(len(out)+crcSize))
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

func appendHead(b []byte, h Header, f *vt.Frame) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, version)
	b = append(b, 0, 0, 0, 0, 0, 0) // reserved; length follows when it is known
	b = binary.LittleEndian.AppendUint16(b, uint16(f.Cols))
	b = binary.LittleEndian.AppendUint16(b, uint16(f.Rows))
	b = binary.LittleEndian.AppendUint64(b, h.Seq)
	var at int64
	if !h.Time.IsZero() {
		at = h.Time.UnixNano()
	}
	return binary.LittleEndian.AppendUint64(b, uint64(at))
}

// encoder builds the records before the history.
type encoder struct {
	out    []byte
	budget int // bytes that the file may still take
	taken  int // bytes that the history will take
}

// record appends a record whose content is what write appends.
func (e *encoder) record(tag byte, write func()) {
	at := len(e.out)
	e.out = append(e.out, tag, 0, 0, 0, 0)
	write()
	binary.LittleEndian.PutUint32(e.out[at+1:], uint32(len(e.out)-at-recordTop))
	e.budget -= len(e.out) - at
}

func (e *encoder) u8(v byte)    { e.out = append(e.out, v) }
func (e *encoder) u16(v int)    { e.out = binary.LittleEndian.AppendUint16(e.out, uint16(v)) }
func (e *encoder) u32(v int)    { e.out = binary.LittleEndian.AppendUint32(e.out, uint32(v)) }
func (e *encoder) uv(v int)     { e.out = binary.AppendUvarint(e.out, uint64(v)) }
func (e *encoder) str(s string) { e.out = append(e.out, s...) }

func (e *encoder) numbers16(all ...int) {
	for _, v := range all {
		e.u16(v)
	}
}

func (e *encoder) numbers32(all ...int) {
	for _, v := range all {
		e.u32(v)
	}
}

// small writes every record but the lines.
func (e *encoder) small(f *vt.Frame) {
	e.record(tagTerminal, func() { e.terminal(f) })
	e.aside(f)
	if f.LastDropped {
		e.record(tagDropped, func() {})
	}
	e.record(tagUnicode, func() { e.str(string(f.Unicode)) })
	for _, t := range [...]struct {
		tag  byte
		text string
	}{{tagTitle, f.Title}, {tagIcon, f.Icon}, {tagCwd, f.Cwd}, {tagCwdHost, f.CwdHost},
		{tagPending, string(f.Pending)}} {
		if t.text != "" {
			e.record(t.tag, func() { e.str(t.text) })
		}
	}
	if f.Palette != nil || f.Foreground|f.Background|f.CursorColor != 0 {
		e.record(tagColours, func() {
			e.numbers32(int(f.Foreground), int(f.Background), int(f.CursorColor))
			e.palette(f.Palette)
		})
	}
	if len(f.OtherColors) > 0 {
		e.record(tagOtherColours, func() { e.palette(f.OtherColors) })
	}
	if len(f.SavedModes) > 0 {
		e.record(tagSavedModes, func() { e.savedModes(f.SavedModes) })
	}
}

func (e *encoder) terminal(f *vt.Frame) {
	bits := 0
	for i, on := range modeBits(&f.Modes) {
		if *on {
			bits |= 1 << i
		}
	}
	e.u32(bits)
	e.out = append(e.out, byte(f.Modes.Mouse), byte(f.Modes.MouseEncoding), f.Modes.Kitty, byte(f.CursorStyle))
	e.u32(int(f.LastChar))
	e.charsets(f.Charsets)
	e.style(f.Pen)
}

// aside writes what the pen keeps besides its style, and the set in force.
func (e *encoder) aside(f *vt.Frame) {
	if f.Invoked != 0 {
		e.record(tagInvoked, func() { e.u8(f.Invoked) })
	}
	a := f.Extended
	if a == nil {
		return
	}
	e.record(tagAside, func() {
		e.u8(bitsOf(a.Underlined, a.Extended))
		e.style(vt.Style{Underline: a.Underline, UnderlineColor: a.UnderlineColor, Link: a.Link})
	})
}

// savedCursors writes what screens do not say of saved cursors: the rows when one is off the screen,
// and how flags differ from the pens when they do.
func (e *encoder) savedCursors(f *vt.Frame) {
	all := savedCursors(f)
	if rows := [2]int{all[0].Y, all[1].Y}; max(rows[0], rows[1]) >= f.Rows || min(rows[0], rows[1]) < 0 {
		e.record(tagSavedRows, func() { e.numbers32(rows[:]...) })
	}
	if all[0].FlagsDiffer|all[1].FlagsDiffer != 0 {
		e.record(tagLinings, func() {
			e.u8(byte(all[0].FlagsDiffer))
			e.u8(byte(all[1].FlagsDiffer))
		})
	}
}

// open writes where the open link is noted.
func (e *encoder) open(o *vt.OpenLink) {
	if o == nil {
		return
	}
	e.record(tagOpen, func() {
		e.u8(0)
		if o.Row >= 0 {
			e.u16(o.Row)
		}
	})
}

// savedCursors are those of the main screen, and of the alternate one as far as f has it.
func savedCursors(f *vt.Frame) [2]*vt.SavedCursor {
	switch {
	case f.Alt != nil:
		return [2]*vt.SavedCursor{&f.Main.Saved, &f.Alt.Saved}
	case f.Hidden != nil:
		return [2]*vt.SavedCursor{&f.Main.Saved, &f.Hidden.Saved}
	}
	return [2]*vt.SavedCursor{&f.Main.Saved, {}}
}

func (e *encoder) charsets(c vt.Charsets) { e.out = append(append(e.out, c.G[:]...), c.GL) }

// style writes s as a line of one character, which already has a packed form.
func (e *encoder) style(s vt.Style) {
	var p vt.Packer
	p.Char('x', 1, s)
	packed := p.Line(false).Packed()
	e.uv(len(packed))
	e.str(packed)
}

func (e *encoder) palette(p map[uint8]vt.Color) {
	for _, i := range slices.Sorted(maps.Keys(p)) {
		e.u8(i)
		e.u32(int(p[i]))
	}
}

func (e *encoder) savedModes(modes map[int]bool) {
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		e.u16(mode)
		e.u8(bitsOf(modes[mode]))
	}
}

func (e *encoder) screen(tag byte, s *vt.Screen, cols int) {
	e.record(tag, func() {
		e.numbers16(s.X, s.Y)
		e.u8(bitsOf(s.PendingWrap, s.Saved.Set, s.Saved.PendingWrap, s.Saved.Origin, s.Tabs != nil, s.Beyond,
			s.Saved.Beyond))
		e.numbers16(s.Top, s.Bottom, s.Saved.X, min(max(s.Saved.Y, 0), len(s.Lines)-1))
		e.charsets(s.Saved.Charsets)
		e.style(s.Saved.Pen)
		e.uv(len(s.Tabs))
		e.numbers16(s.Tabs...)
		e.uv(len(s.Kitty))
		e.out = append(e.out, s.Kitty...)
		share := e.budget / len(s.Lines) / 2 // no line takes another's place
		for _, l := range s.Lines {
			if l = storable(l, cols); l.Size() > share {
				l = bare(l)
			}
			e.out = appendLine(e.out, l)
		}
	})
}

// bitsOf has a bit for each of at most eight flags, the first in the lowest.
func bitsOf(flags ...bool) (bits byte) {
	for i, on := range flags {
		if on {
			bits |= 1 << i
		}
	}
	return bits
}

// fitting is the end of history that there is room for; taken becomes its size.
func (e *encoder) fitting(history vt.Lines) vt.Lines {
	if total := history.Size() + history.Len()*binary.MaxVarintLen32; total <= e.budget {
		e.taken = total
		return history
	}
	n := 0
	for _, l := range slices.Backward(history.Slice()) {
		size := binary.MaxVarintLen32 + storable(l, vt.MaxSize).Size() // at most
		if e.taken+size > e.budget {
			break
		}
		e.taken += size
		n++
	}
	return history.Last(n)
}

func appendHistory(b []byte, history vt.Lines) []byte {
	at := len(b)
	b = append(b, tagHistory, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(history.Len()))
	for l := range history.Scan() {
		b = appendLine(b, storable(l, vt.MaxSize))
	}
	binary.LittleEndian.PutUint32(b[at+1:], uint32(len(b)-at-recordTop))
	return b
}

func appendLine(b []byte, l vt.Line) []byte {
	size := uint64(l.Size()) << 1
	if l.Wrapped() {
		size |= 1
	}
	b = binary.AppendUvarint(b, size)
	return append(b, l.Packed()...)
}
