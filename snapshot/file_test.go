package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/vt"
)

// same compares frames; lines are equal when their packed forms are.
func same(a, b *vt.Frame) bool { return reflect.DeepEqual(inOne(a), inOne(b)) }

// inOne is f with its history in one block, so that equal histories are deeply
// equal.
func inOne(f *vt.Frame) *vt.Frame {
	g := *f
	g.History = vt.LinesOf(f.History.Slice()...)
	return &g
}

// stored is f as a file gives it back: normalized, and without the difference between
// an empty and an absent list where it means nothing.
func stored(f *vt.Frame) *vt.Frame {
	g := *normalize(f)
	for _, s := range []*vt.Screen{&g.Main, g.Alt} {
		if s != nil && len(s.Kitty) == 0 {
			s.Kitty = nil
		}
	}
	if g.Palette == nil && g.Foreground|g.Background|g.CursorColor != 0 {
		g.Palette = map[uint8]vt.Color{}
	}
	g.Pending = settled(g.Pending)
	return &g
}

func TestDecodeGivesBackWhatEncodeGot(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for seed := range uint64(3000) {
		f := newFrames(seed).frame()
		h := Header{Seq: seed << 40, Time: at}
		b := Encode(h, f)
		if !IsSnapshot(b) {
			t.Fatal("IsSnapshot does not know what Encode wrote")
		}
		gotH, got, err := Decode(b)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if gotH != h {
			t.Errorf("seed %d: header %+v, want %+v", seed, gotH, h)
		}
		if want := stored(f); !same(got, want) {
			t.Fatalf("seed %d:\n got  %+v\n want %+v", seed, got, want)
		}
		if again := Encode(h, got); !bytes.Equal(again, b) {
			t.Fatalf("seed %d: encoding the decoded frame gives other bytes", seed)
		}
	}
	if h, _, err := Decode(Encode(Header{}, smallFrame())); err != nil || !h.Time.IsZero() {
		t.Errorf("a time that is not known became %v, %v", h.Time, err)
	}
}

// smallFrame has one of everything.
func smallFrame() *vt.Frame {
	f := &vt.Frame{
		Cols: 8, Rows: 2, Unicode: vt.Unicode15Graphemes, Modes: vt.DefaultModes(), Title: "title", Icon: "i",
		Cwd: "/", CwdHost: "host",
		Pen: vt.Style{FG: vt.PaletteColor(1), Link: vt.Link{ID: "a", URI: "b:c"}}, LastChar: 'x', CursorStyle: 3,
		Palette: map[uint8]vt.Color{7: vt.RGBColor(1, 2, 3)}, Background: vt.RGBColor(4, 5, 6),
		Pending: []byte("\x1b["),
	}
	var p vt.Packer
	p.Char('x', 1, vt.Style{Attr: vt.Bold})
	l := p.Line(true)
	f.History = vt.LinesOf(l)
	f.Main = vt.Screen{Lines: []vt.Line{l, {}}, X: 1, Bottom: 1, Tabs: []int{4}, Kitty: []uint8{1},
		Saved: vt.SavedCursor{Set: true, X: 2, Origin: true}}
	alt := f.Main
	f.Alt = &alt
	f.Modes.AltScreen = true
	return f
}

func TestDecodeRefusesEveryTruncation(t *testing.T) {
	b := Encode(Header{Seq: 1}, smallFrame())
	for n := range b {
		if _, _, err := Decode(b[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut to %d of %d bytes: %v", n, len(b), err)
		}
	}
	if _, _, err := Decode(append(b, 0)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte too many: %v", err)
	}
}

func TestDecodeRefusesEveryFlippedBit(t *testing.T) {
	b := Encode(Header{Seq: 1}, smallFrame())
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if _, _, err := Decode(b); !errors.Is(err, ErrCorrupt) {
				t.Errorf("byte %d bit %d: %v", i, bit, err)
			}
			b[i] ^= 1 << bit
		}
	}
}

// seal gives b the length and the checksum of a file, as a hostile one has them.
func seal(b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) < minFile {
		return b
	}
	binary.LittleEndian.PutUint32(b[12:], uint32(len(b)))
	binary.LittleEndian.PutUint32(b[len(b)-crcSize:], crc32.Checksum(b[:len(b)-crcSize], castagnoli))
	return b
}

func TestDecodeKnowsAnotherVersion(t *testing.T) {
	b := Encode(Header{}, smallFrame())
	b[8] = version + 1
	_, _, err := Decode(seal(b))
	if !errors.Is(err, ErrVersion) || errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

// TestDecodeSkipsUnknownRecords: a field added later does not make a file
// unreadable.
func TestDecodeSkipsUnknownRecords(t *testing.T) {
	b := Encode(Header{}, smallFrame())
	end := len(b) - crcSize
	b = append(bytes.Clone(b[:end]), 200, 3, 0, 0, 0, 'n', 'e', 'w', 0, 0, 0, 0)
	if _, f, err := Decode(seal(b)); err != nil || f.Title != "title" {
		t.Errorf("%v", err)
	}
}

// TestRestoredKeepsNothingOfTheFile: an engine that was restored does not read the memory of the file, nor does a frame
// but for its history.
func TestRestoredKeepsNothingOfTheFile(t *testing.T) {
	c := vt.Config{Cols: 80, Rows: 24, Scrollback: 5000}
	source := vt.NewEngine(c)
	for i := range 3000 {
		source.Write(fmt.Appendf(nil, "\x1b]8;id=%d;http://x/%d\x1b\\%d\x1b]8;;\x1b\\\x1b[3%dmé 日本 %s\x1b[m\r\n",
			i, i, i, i%8, strings.Repeat("z", i%200)))
	}
	source.Write([]byte("\x1b]2;title\x07\x1b]7;file:///tmp\x07\x1b]8;;http://open/\x1b\\open\x1b[?1049h"))
	source.Write([]byte("alternate\x1b]2;unfinished"))
	want := Encode(Header{}, source.Freeze())
	file := bytes.Clone(want)
	_, f, err := Decode(file)
	restored := vt.NewEngine(c)
	if err != nil || !restored.Restore(f) {
		t.Fatal(err)
	}
	for i := range file {
		file[i] = 0xfe
	}
	if !bytes.Equal(Encode(Header{}, restored.Freeze()), want) {
		t.Error("the engine has changed with the file")
	}
	f.History = source.Freeze().History
	if !bytes.Equal(Encode(Header{}, f), want) {
		t.Error("the frame has changed with the file")
	}
}

// TestDecodeDoesNotBelieveCounts: files that claim to be huge are refused before
// memory is taken for what they claim.
func TestDecodeDoesNotBelieveCounts(t *testing.T) {
	good := Encode(Header{}, smallFrame())
	huge := map[string][]byte{}
	size := bytes.Clone(good)
	copy(size[16:], "\xff\xff\xff\xff")
	huge["65535x65535"] = size
	zero := bytes.Clone(good)
	copy(zero[16:], "\x00\x00")
	huge["0 columns"] = zero
	for name, record := range map[string]string{
		"history of 2^32-1 lines":   "\x07\x04\x00\x00\x00\xff\xff\xff\xff",
		"record of 2^32-1 bytes":    "\x07\xff\xff\xff\xff",
		"line of 2^33 bytes":        "\x07\x09\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff\x3f",
		"blank span of 2^24 cells":  "\x07\x09\x00\x00\x00\x01\x00\x00\x00\x0a\xf0\xff\xff\xff\x07",
		"size of a line in 6 bytes": "\x07\x0a\x00\x00\x00\x01\x00\x00\x00\x80\x80\x80\x80\x80\x00",
		"pending not UTF-8":         "\x0a\x02\x00\x00\x00\x1b\xff",
		"terminal too short":        "\x01\x02\x00\x00\x00ab",
	} {
		huge[name] = append(append(bytes.Clone(good[:len(good)-crcSize]), record...), 0, 0, 0, 0)
	}
	huge["only a header"] = append(bytes.Clone(good[:headSize]), 0, 0, 0, 0)
	for name, b := range huge {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Decode(seal(b))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
			t.Errorf("%s: took %d bytes for %d", name, grown, len(b))
		}
	}
}

// TestEncodeTakesAnyFrame: whatever an engine does wrong, the file can be read.
func TestEncodeTakesAnyFrame(t *testing.T) {
	var p vt.Packer
	p.Cluster("\x1b]0;x\x07", 1, vt.Style{Link: vt.Link{URI: "a\nb"}})
	p.Char(0x9b, 2, vt.Style{})
	p.ASCII([]byte("a\x00b"), vt.Style{FG: 77 << 24})
	p.ASCII([]byte("a\x7fb"), vt.Style{})
	p.Cluster("\xff", 2, vt.Style{})
	bad := p.Line(true)
	p = vt.Packer{}
	p.ASCII(bytes.Repeat([]byte{'w'}, 3000), vt.Style{})
	wide := p.Line(false)
	frames := map[string]*vt.Frame{
		"zero":     {},
		"negative": {Cols: -1, Rows: -5, Main: vt.Screen{X: -3, Y: 9, Top: 8, Bottom: -2, Tabs: []int{-1, 5, 5, 3000}}},
		"huge": {Cols: 1 << 30, Rows: 1 << 30, CursorStyle: 99,
			Charsets: vt.Charsets{G: [4]byte{1, 2, 255, 'B'}, GL: 200}, LastChar: -1},
		"bad text": {Cols: 10, Rows: 3, Main: vt.Screen{Lines: []vt.Line{bad, wide, bad, bad}},
			History: vt.LinesOf(bad, wide), Title: "\xff\x1b", Pending: []byte("\xff")},
		"styles": {Cols: 2, Rows: 2, Pen: vt.Style{FG: 5 << 24, Underline: 200, Attr: 0xffff},
			Modes: vt.Modes{Mouse: 99, MouseEncoding: 99}, Palette: map[uint8]vt.Color{1: 1 << 24}},
	}
	for name, f := range frames {
		_, got, err := Decode(Encode(Header{}, f))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again := Encode(Header{}, got); !bytes.Equal(again, Encode(Header{}, f)) {
			t.Errorf("%s: not the same a second time", name)
		}
		checkHarmless(t, f, ANSI(f, Options{Scrollback: -1}))
		if text := Text(f, -1); strings.ContainsFunc(text, func(r rune) bool { return unprintable(r) && r != '\n' }) {
			t.Errorf("%s: text %q", name, text)
		}
	}
}

// TestEncodeLeavesOutTheOldest: a history that does not fit into a file loses
// its beginning, and the file stays readable.
func TestEncodeLeavesOutTheOldest(t *testing.T) {
	f := smallFrame()
	f.Cols = 100
	var lines []vt.Line
	for i := range 26 {
		var p vt.Packer
		for x := range f.Cols {
			p.Char(rune('a'+i), 1, vt.Style{Link: vt.Link{URI: "https://example.org/" + strings.Repeat("x", 900+x%2)}})
		}
		lines = append(lines, p.Line(false))
	}
	lines = slices.Repeat(lines, 30)
	f.History = vt.LinesOf(lines...)
	b := Encode(Header{}, f)
	_, got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	kept := got.History.Len()
	if len(b) > MaxFile || len(b) < MaxFile-1<<20 || kept == 0 || kept >= len(lines) ||
		got.History.Slice()[kept-1] != lines[len(lines)-1] {
		t.Errorf("kept %d of %d lines in %d bytes", kept, len(lines), len(b))
	}
}

// FuzzDecode: any bytes are an error or a frame that every renderer takes, and
// memory stays in proportion to the file.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(Header{Seq: 7}, smallFrame()), false)
	for seed := range uint64(20) {
		f.Add(Encode(Header{Seq: seed}, newFrames(seed).frame()), seed%2 == 0)
	}
	f.Add([]byte(magic), false)
	f.Fuzz(func(t *testing.T, b []byte, sealed bool) {
		if len(b) > 64<<10 {
			return
		}
		if sealed {
			b = seal(b)
		}
		h, frame, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
				t.Fatalf("neither corrupt nor another version: %v", err)
			}
			return
		}
		checkHarmless(t, frame, ANSI(frame, Options{Scrollback: -1}))
		checkHarmless(t, withoutProgram(frame), ANSI(frame, Options{Ended: true}))
		Text(frame, -1)
		HTML(frame, 1)
		JSON(frame, -1)
		again, back, err := Decode(Encode(h, frame))
		if err != nil || again != h || !same(back, frame) {
			t.Fatalf("does not survive a second time: %v\n%+v %+v\n%+v %+v", err, h, frame, again, back)
		}
	})
}

// TestCompress: a compressed file is smaller, reads back the same, and is refused when a part of it is missing.
func TestCompress(t *testing.T) {
	h, f := Header{Seq: 7, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}, newFrames(1).frame()
	f.Title = strings.Repeat("title ", 500)
	plain := Encode(h, f)
	packed, err := Compress(plain)
	if err != nil || len(packed) >= len(plain) || !IsSnapshot(packed) {
		t.Fatalf("%d bytes of %d, %v", len(packed), len(plain), err)
	}
	gotH, got, err := Decode(packed)
	if err != nil || gotH != h || !same(got, stored(f)) {
		t.Errorf("%+v, %v", gotH, err)
	}
	for _, n := range []int{len(packedHead), len(packedHead) + 1, len(packed) / 2, len(packed) - 1} {
		if _, _, err := Decode(packed[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for _, other := range [][]byte{nil, []byte("no snapshot")} { // it compresses what it is given
		if p, err := Compress(other); err != nil || !isPacked(p) {
			t.Errorf("%q: %v", other, err)
		}
	}
}
