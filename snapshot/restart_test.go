package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// engineOf is a new engine for a trial.
func engineOf(tr trial) vt.Engine {
	return engineUnderTest(vt.Config{Cols: tr.cols, Rows: tr.rows, Scrollback: tr.scrollback, Unicode: tr.unicode})
}

// restarted is e as a new server has it: through a file and into a new engine.
func restarted(t *testing.T, tr trial, f *vt.Frame) vt.Engine {
	t.Helper()
	_, g, err := Decode(Encode(Header{Time: time.Unix(1, 0)}, f))
	if err != nil {
		t.Fatal(err)
	}
	tr.cols, tr.rows = g.Cols, g.Rows
	e := engineOf(tr)
	if !e.Restore(g) {
		t.Fatalf("the engine does not take %+v", g)
	}
	return e
}

// formats are all that is made of a frame for people.
func formats(t *testing.T, f *vt.Frame) map[string]string {
	t.Helper()
	b, err := json.Marshal(JSON(f, -1))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"json": string(b), "html": HTML(f, -1), "text": Text(f, -1),
		"ansi": string(ANSI(f, Options{Scrollback: -1}))}
}

// TestWriteJSONSaysWhatJSONSays, to its last member.
func TestWriteJSONSaysWhatJSONSays(t *testing.T) {
	r := newFrames(6)
	for range 100 {
		f := r.frame()
		for _, scrollback := range []int{-1, 1} {
			var b bytes.Buffer
			if err := WriteJSON(&b, f, scrollback, `,"seq":0`); err != nil {
				t.Fatal(err)
			}
			var got wire.ScreenJSON
			if err := json.Unmarshal(b.Bytes(), &got); err != nil {
				t.Fatalf("%v: %.300q", err, b.Bytes())
			}
			again, err1 := json.Marshal(got)
			want, err2 := json.Marshal(JSON(f, scrollback))
			if err := errors.Join(err1, err2); err != nil || !bytes.Equal(again, want) {
				t.Fatalf("%v\n got  %.1000s\n want %.1000s", err, again, want)
			}
		}
	}
}

// TestReduce: what does not fit loses history first, as little as is quickly found, then links, then styles. It always
// fits.
func TestReduce(t *testing.T) {
	e := vt.NewEngine(vt.Config{Cols: 20, Rows: 2, Scrollback: 1000, Unicode: vt.Unicode11})
	for i := range 1000 {
		e.Write(fmt.Appendf(nil, "line %04d\r\n", i))
	}
	e.Write([]byte("\x1b]8;;https://example.org/" + strings.Repeat("a", 500) + "\x1b\\link\x1b]8;;\x1b\\ \x1b[1mbold"))
	f := e.Freeze()
	size := func(encode Encoder, f *vt.Frame, scrollback int) int {
		t.Helper()
		var b bytes.Buffer
		if err := encode(&b, f, scrollback); err != nil {
			t.Fatal(err)
		}
		return b.Len()
	}
	for _, c := range []struct {
		encode            Encoder
		scrollback, limit int
		least, most       int // lines of history
		link, bold        bool
	}{
		{WriteText, -1, 1 << 30, -1, -1, true, true},
		{WriteText, -1, size(WriteText, f, 300), 300 - 64, 300, true, true},
		{WriteText, 100, size(WriteText, f, 100), 100, 100, true, true},
		{WriteText, 100, size(WriteText, f, 0), 0, 0, true, true},
		{WriteText, 0, size(WriteText, f, 100), 0, 0, true, true},
		{WriteHTML, -1, size(WriteHTML, f, 0) - 1, 0, 0, false, true},
		{WriteHTML, -1, size(WriteHTML, lightened(f, unlinked), 0) - 1, 0, 0, false, false},
	} {
		g, n, err := Reduce(f, c.scrollback, c.limit, c.encode)
		if err != nil || n < c.least || n > c.most {
			t.Errorf("limit %d: %d lines, %v", c.limit, n, err)
			continue
		}
		html := HTML(g, 0)
		if size(c.encode, g, n) > c.limit || strings.Contains(html, "example.org") != c.link ||
			strings.Contains(html, "bold;") != c.bold || !strings.Contains(html, "link") {
			t.Errorf("limit %d: %s", c.limit, html)
		}
	}
	if g, n, err := Reduce(f, -1, 1, WriteText); err != nil || n != 0 || strings.TrimSpace(Text(g, -1)) != "" {
		t.Errorf("nothing fits: %d, %v", n, err)
	}
	broken := func(io.Writer, *vt.Frame, int) error { return io.ErrClosedPipe }
	if _, _, err := Reduce(f, -1, 1, broken); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("an encoder that fails: %v", err)
	}
}

// checkFormats compares two frames in every format.
func checkFormats(t *testing.T, got, want *vt.Frame) {
	t.Helper()
	all := formats(t, got)
	for name, w := range formats(t, want) {
		g, i := all[name], 0
		for i < min(len(g), len(w)) && g[i] == w[i] {
			i++
		}
		if g != w {
			t.Errorf("%s differs\n got  …%.200q\n want …%.200q", name, g[max(0, i-80):], w[max(0, i-80):])
		}
	}
}

// TestFormatsSurviveRestart: what people are shown of a terminal is the same
// before and after a restart of the server, and so is all that comes later.
func TestFormatsSurviveRestart(t *testing.T) {
	t.Parallel()
	for seed := *firstSeed; seed < *firstSeed+uint64(max(*cases, few(1500, 300))) && !t.Failed(); seed++ {
		for _, tr := range []trial{randomTrial(seed), damagedTrial(seed)} {
			e := engineOf(tr)
			half, cols, cut := len(tr.tokens)/2, tr.cols, false
			for _, tok := range tr.tokens[:half] {
				play(e, tok)
				if tok.cols > 0 {
					cut, cols = cut || tok.cols < cols, tok.cols
				}
			}
			f := e.Freeze()
			again := restarted(t, tr, f)
			checkFormats(t, again.Freeze(), f)
			if t.Failed() {
				t.Fatalf("seed %d, after %s", seed, tr)
			}
			if e.Held() > 0 || cut {
				continue // a new server reads held bytes from the journal; frames have no halves of wide characters
			}
			for _, tok := range tr.tokens[half:] {
				play(e, tok)
				play(again, tok)
			}
			if want, got := inOnePart(e.Freeze()), inOnePart(again.Freeze()); !reflect.DeepEqual(want, got) {
				checkFormats(t, got, want)
				t.Fatalf("seed %d: the rest comes to another frame\n got  %+v\n want %+v\nafter %s", seed, got, want,
					tr)
			}
		}
	}
}

// inOnePart is f in order, with its history in one piece.
func inOnePart(f *vt.Frame) *vt.Frame {
	g := normalize(f)
	g.History = vt.LinesOf(g.History.Slice()...)
	return g
}

func play(e vt.Engine, tok token) {
	if tok.cols > 0 {
		e.Resize(tok.cols, tok.rows)
	} else {
		e.Write([]byte(tok.text))
	}
}

// TestErasedRowReflowsAfterRestart: a row that was filled and erased while a wrap
// was pending has no text, before and after a restart, and for a viewer.
func TestErasedRowReflowsAfterRestart(t *testing.T) {
	tr := trial{stream: stream{cols: 80, rows: 24, scrollback: 100, unicode: vt.Unicode11}}
	filled, rest := token{text: strings.Repeat("x", 80) + "\x1b[2K"},
		[]token{{text: "\r\nnext\r\n"}, {cols: 60, rows: 24}}
	alive := engineOf(tr)
	play(alive, filled)
	f := alive.Freeze()
	again, viewer := restarted(t, tr, f), engineOf(tr)
	viewer.Write(ANSI(f, Options{Scrollback: -1}))
	for _, tok := range rest {
		for _, e := range []vt.Engine{alive, again, viewer} {
			play(e, tok)
		}
	}
	checkFormats(t, again.Freeze(), alive.Freeze())
	checkFormats(t, viewer.Freeze(), alive.Freeze())
	if text := Text(again.Freeze(), 0); !strings.HasPrefix(text, "\nnext\n") {
		t.Errorf("one row was erased, the screen is %q", text)
	}
}

// TestPenAsideBeforeWrappedBlanks: what a pen keeps aside after DECRC goes to a viewer on an alternate screen with a
// blank row that continues another, and does not colour that row.
func TestPenAsideBeforeWrappedBlanks(t *testing.T) {
	tr := trial{stream: stream{cols: 5, rows: 3, scrollback: 10, unicode: vt.Unicode11}}
	const link = "\x1b]8;;https://example.org\x1b\\"
	for _, text := range []string{
		"\x1b[?1047h\x1b[4m\x1b7\x1b[m\x1b[?1047l\x1b7" + link + "\x1b8\x1b[?1047h\x1b[Habcdefgh\x1b[2;1H\x1b[5X",
		"\x1b[4m\x1b7\x1b[m\x1b8\x1b[?1047h\x1b[Habcdefgh\x1b[2;1H\x1b[5X\x1b[H\x1b[5X",
	} {
		alive, viewer := engineOf(tr), engineOf(tr)
		alive.Write([]byte(text))
		viewer.Write(ANSI(alive.Freeze(), Options{Scrollback: -1}))
		checkFormats(t, viewer.Freeze(), alive.Freeze())
		for _, e := range []vt.Engine{alive, viewer} {
			e.Write([]byte("x\x1b[4my\x1b[24mz"))
		}
		checkFormats(t, viewer.Freeze(), alive.Freeze())
	}
}

// TestErasedCellsKeepTheirColour: the background of blanks at the end of a row, and
// all that a blank has in JSON, is there after a restart.
func TestErasedCellsKeepTheirColour(t *testing.T) {
	tr := trial{stream: stream{cols: 10, rows: 4, scrollback: 10, unicode: vt.Unicode11}}
	for _, text := range []string{
		"\x1b[41mab\x1b[K\r\n\x1b[48;2;1;2;3m\x1b[2K\x1b[m\r\n\x1b[42m\x1b[J", // erased with a background
		"\x1b[31m123456789漢\r\n",                                // the blank that a wide character leaves
		"漢\x1b[1;2H\x1b[1;33;44mx\x1b[1;1H\x1b[35m漢字\x1b[1;2Hy", // halves that were overwritten
		"\x1b[7m\x1b[4m\x1b[KZ\x1b[2;3H\x1b[1;31;46m\x1b[3X",
	} {
		e := engineOf(tr)
		e.Write([]byte(text))
		f := e.Freeze()
		checkFormats(t, restarted(t, tr, f).Freeze(), f)
	}
}
