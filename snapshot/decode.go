package snapshot

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/evertty/evertty/vt"
)

// Decode reads a snapshot file, plain or compressed. The file need not be trusted: Decode checks
// lengths before it allocates, and lines with vt.ParseLine. Values out of range, such as a
// cursor off the screen or an unknown mode, are brought into range. The history of the frame shares the memory
// of b, which must not change any more. Errors wrap ErrCorrupt or ErrVersion and say where the file is wrong.
func Decode(b []byte) (Header, *vt.Frame, error) {
	if isPacked(b) {
		plain, err := unpackSnapshot(b)
		if err != nil {
			return Header{}, nil, fmt.Errorf("snapshot: %w", err)
		}
		b = plain
	}
	if err := checkFile(b); err != nil {
		return Header{}, nil, fmt.Errorf("snapshot: %w", err)
	}
	d := decoder{rest: unsafe.String(&b[16], len(b)-crcSize-16)}
	f := &vt.Frame{Cols: d.u16(), Rows: d.u16(), Unicode: vt.Unicode11, Modes: vt.DefaultModes()}
	h := Header{Seq: d.u64()}
	if at := int64(d.u64()); at != 0 {
		h.Time = time.Unix(0, at).UTC()
	}
	if !sizeOK(f.Cols) || !sizeOK(f.Rows) {
		return Header{}, nil, fmt.Errorf("snapshot: %w: size %dx%d", ErrCorrupt, f.Cols, f.Rows)
	}
	d.frame = f
	for d.rest != "" {
		if err := d.record(); err != nil {
			return Header{}, nil, fmt.Errorf("snapshot: %w", err)
		}
	}
	if required := uint(1<<tagTerminal | 1<<tagMain); d.seen&required != required {
		return Header{}, nil, fmt.Errorf("snapshot: %w: no screen in it", ErrCorrupt)
	}
	d.completeSaved()
	f = normalize(f)
	f.Pending = settled(f.Pending)
	return h, f, nil
}

// completeSaved gives the saved cursors what other records say of them.
func (d *decoder) completeSaved() {
	for i, saved := range savedCursors(d.frame) {
		saved.FlagsDiffer = d.linings[i]
		if d.rows != nil {
			saved.Y = d.rows[i]
		}
	}
}

func sizeOK(n int) bool { return n >= vt.MinSize && n <= vt.MaxSize }

// checkFile checks the part that every version has.
func checkFile(b []byte) error {
	switch {
	case !isPlain(b):
		return fmt.Errorf("%w: not a snapshot file", ErrCorrupt)
	case len(b) > MaxFile:
		return fmt.Errorf("%w: %d bytes are more than %d", ErrCorrupt, len(b), MaxFile)
	case len(b) < minFile:
		return fmt.Errorf("%w: %d bytes are less than a header", ErrCorrupt, len(b))
	}
	if n := binary.LittleEndian.Uint32(b[12:]); int64(n) != int64(len(b)) {
		return fmt.Errorf("%w: %d bytes of %d", ErrCorrupt, len(b), n)
	}
	end := len(b) - crcSize
	if want, got := binary.LittleEndian.Uint32(b[end:]), crc32.Checksum(b[:end], castagnoli); want != got {
		return fmt.Errorf("%w: checksum %08x, not %08x", ErrCorrupt, got, want)
	}
	if v := binary.LittleEndian.Uint16(b[8:]); v != version {
		return fmt.Errorf("%w: %d, this evertty knows %d", ErrVersion, v, version)
	}
	return nil
}

// decoder reads numbers and strings off the front of rest. Reading past the end
// sets short and gives zeros.
type decoder struct {
	rest  string
	short bool
	frame *vt.Frame
	seen  uint // bit per tag
	// Of savedCursors; records come in any order. rows is nil when all are on the screen.
	rows    []int
	linings [2]vt.AttrFlags
}

func (d *decoder) take(n uint64) string {
	if n > uint64(len(d.rest)) {
		d.short, d.rest = true, ""
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

// number reads an unsigned little endian number of n bytes.
func (d *decoder) number(n uint64) (v uint64) {
	s := d.take(n)
	for i := range len(s) {
		v |= uint64(s[i]) << (8 * i)
	}
	return v
}

func (d *decoder) u8() byte    { return byte(d.number(1)) }
func (d *decoder) u16() int    { return int(d.number(2)) }
func (d *decoder) u32() uint32 { return uint32(d.number(4)) }
func (d *decoder) u64() uint64 { return d.number(8) }

// uv reads an unsigned LEB128 number of at most five bytes.
func (d *decoder) uv() (v uint64) {
	for i := range binary.MaxVarintLen32 {
		c := d.u8()
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v
		}
	}
	d.short = true
	return 0
}

// record reads one record into the frame.
func (d *decoder) record() error {
	tag := d.u8()
	content := d.take(d.number(4))
	if d.short {
		return fmt.Errorf("%w: record %d is cut short", ErrCorrupt, tag)
	}
	behind := d.rest
	if d.rest = content; tag != tagHistory { // a title or a link must not keep the whole file in memory
		d.rest = strings.Clone(content)
	}
	err := d.content(tag)
	if err == nil && d.short {
		err = fmt.Errorf("%w: too short", ErrCorrupt)
	}
	if err != nil {
		return fmt.Errorf("record %d: %w", tag, err)
	}
	if d.rest = behind; tag < 64 {
		d.seen |= 1 << tag
	}
	return nil
}

func (d *decoder) content(tag byte) error {
	f := d.frame
	switch tag {
	case tagTerminal:
		return d.terminal()
	case tagUnicode:
		f.Unicode = vt.Unicode(d.rest)
	case tagTitle:
		return d.text(&f.Title, vt.MaxString)
	case tagIcon:
		return d.text(&f.Icon, vt.MaxString)
	case tagCwd:
		return d.text(&f.Cwd, vt.MaxString)
	case tagCwdHost:
		return d.text(&f.CwdHost, vt.MaxString)
	case tagPending:
		var pending string
		err := d.text(&pending, vt.MaxPending)
		f.Pending = []byte(pending)
		return err
	case tagColours:
		f.Foreground, f.Background, f.CursorColor = d.colour(), d.colour(), d.colour()
		f.Palette = d.palette()
	case tagOtherColours:
		f.OtherColors = d.palette()
	case tagSavedModes:
		f.SavedModes = d.savedModes()
	case tagHistory:
		return d.history()
	case tagMain:
		return d.screen(&f.Main)
	case tagAlt:
		f.Alt = &vt.Screen{}
		return d.screen(f.Alt)
	case tagInvoked:
		f.Invoked = d.u8()
	case tagAside:
		return d.aside()
	case tagSavedRows:
		d.rows = []int{int(int32(d.u32())), int(int32(d.u32()))}
	case tagOpen:
		d.open()
	case tagDropped:
		f.LastDropped = true
	case tagLinings:
		d.linings = [2]vt.AttrFlags{vt.AttrFlags(d.u8()), vt.AttrFlags(d.u8())}
	case tagHidden:
		f.Hidden = &vt.Screen{}
		return d.screen(f.Hidden)
	}
	return nil
}

// text makes the whole record a string of the terminal.
func (d *decoder) text(s *string, limit int) error {
	if len(d.rest) > limit || !utf8.ValidString(d.rest) {
		return fmt.Errorf("%w: not UTF-8 of at most %d bytes", ErrCorrupt, limit)
	}
	*s = d.rest
	return nil
}

func (d *decoder) terminal() (err error) {
	f := d.frame
	bits := d.u32()
	for i, on := range modeBits(&f.Modes) {
		*on = bits&(1<<i) != 0
	}
	f.Modes.Mouse, f.Modes.MouseEncoding = vt.Mouse(d.u8()), vt.MouseEncoding(d.u8())
	f.Modes.Kitty, f.CursorStyle = d.u8(), vt.CursorStyle(d.u8())
	f.LastChar = rune(d.u32())
	f.Charsets = d.charsets()
	f.Pen, err = d.style()
	return err
}

func (d *decoder) aside() error {
	bits := d.u8()
	s, err := d.style()
	d.frame.Extended = &vt.ExtendedAttrs{
		Underline: s.Underline, UnderlineColor: s.UnderlineColor, Link: s.Link, Underlined: bits&1 != 0,
		Extended: bits&2 != 0,
	}
	return err
}

func (d *decoder) open() {
	_ = d.u8()
	d.frame.Open = &vt.OpenLink{Row: -1}
	if len(d.rest) > 1 {
		d.frame.Open.Row = d.u16()
	}
}

func (d *decoder) charsets() (c vt.Charsets) {
	copy(c.G[:], d.take(uint64(len(c.G))))
	c.GL = d.u8()
	return c
}

func (d *decoder) style() (vt.Style, error) {
	l, err := vt.ParseLine(d.take(d.uv()), false, 1)
	if err != nil {
		return vt.Style{}, fmt.Errorf("%w: style: %w", ErrCorrupt, err)
	}
	return firstSpan(l).Style, nil
}

func (d *decoder) colour() vt.Color { return vt.Color(d.u32()) }

// palette reads colours by their index up to the end of the record.
func (d *decoder) palette() map[uint8]vt.Color {
	p := map[uint8]vt.Color{}
	for d.rest != "" {
		i := d.u8()
		p[i] = d.colour()
	}
	return p
}

// savedModes reads modes up to the end of the record; those that no terminal
// saves are left out.
func (d *decoder) savedModes() map[int]bool {
	modes := map[int]bool{}
	for d.rest != "" {
		if mode, on := d.u16(), d.u8() != 0; vt.CanSaveMode(mode) {
			modes[mode] = on
		}
	}
	return modes
}
