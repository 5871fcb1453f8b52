package vt_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// FuzzTerminal: no input panics or breaks an invariant; how it is split does not
// show in the state; a viewer that gets the text has the same state and is asked
// nothing; a snapshot in the middle leads to the same end; resizes keep all that.
func FuzzTerminal(f *testing.F) {
	for _, s := range []string{
		"a\x1b[6nb\x1b[3b", "\x1b]10;?;#fff\x1b\\x\x1b]4;1;?\a", "\x1bP$qm\x1b\\\x1b[?2026$p",
		"abc\r\n\x1b[2;3r\n\n\x1b[L\x1b[M\x1b[S\x1b[T",
		"\x1b(0qx\x0e\x1b)0\x0f\u009b1m\u0085\u009dx\u009c", "日本語😀e\u0301\xff\xe2\x82",
		"\x1b[38:2::1:2:3;4:3;58;5;1mx\x1b[0K\x1b#8",
		"\x1b[99999b\x1b[9999;9999H\x1b[99999L\x1b[9\n9I", "\x1b7\x1b[?1049h\x1b8\x1b[!p\x1bc\x1b[4habc\r\x1b[?7l",
		"\x1b[1\"qab\x1b[?1J\x1b['}\x1b[2 @",
		"\x1b[>1u\x1b[>5u\x1b[<u\x1b[=3;2u\x1b[?u\x1b[1;1;1;1;9;9*y", "a\x1b[c\u0301b", "日\x1b[D\x1b[@本\x1b[2P",
		"\x1b]8;;u\ax\x1b[59m\x1b]8;;\a",
		strings.Repeat("wrapped ", 20) + "\x1b[3A\x1b[2K", "\x1b[?1049h\x1b[44m日本\x1b[20C\x1b[K\x1b[?1049l",
		"\x1b[?45h\b\b\x1b[1;20H漢\b\b",
	} {
		f.Add([]byte(s), uint8(10), uint8(4), uint8(1), uint8(3))
		f.Add([]byte(s), uint8(1), uint8(1), uint8(3), uint8(0))
	}
	f.Fuzz(func(t *testing.T, in []byte, cols, rows, step, scrollback uint8) {
		if len(in) > 4096 {
			return
		}
		fuzzOne(t, in, int(cols)%60+1, int(rows)%16+1, int(step)%64+1, int(scrollback)%20)
	})
}

func fuzzOne(t *testing.T, in []byte, cols, rows, step, scrollback int) {
	c := vt.Config{Cols: cols, Rows: rows, Scrollback: scrollback, Unicode: vt.Unicode11}
	if step%2 == 0 {
		c.Unicode = vt.Unicode15Graphemes
	}
	whole, wholeText, wholeReplies := written(t, c, in, len(in)+1)
	pieces, piecesText, piecesReplies := written(t, c, in, step)
	same(t, "in pieces", whole, pieces)
	if wholeReplies != piecesReplies {
		t.Fatalf("replies %q, in pieces %q", wholeReplies, piecesReplies)
	}
	for _, text := range []string{wholeText, piecesText} {
		viewer, _, asked := written(t, c, []byte(text), len(text)+1)
		if asked != "" {
			t.Fatalf("a viewer answers %q to %q", asked, text)
		}
		if viewer.Freeze().LastChar != 0 && whole.Freeze().LastChar == 0 {
			continue // it remembers a character before a query, see stream.viewers
		}
		sameShown(t, whole, viewer)
	}
	roundTrip(t, c, in, step)
	whole.Resize(rows*3, cols)
	whole.Write(in)
	if err := vt.Check(whole); err != nil {
		t.Fatal(err)
	}
	whole.Resize(cols, rows)
	if err := vt.Check(whole); err != nil {
		t.Fatal(err)
	}
}

// written is an engine that got in in pieces of n bytes, the text for viewers
// and the replies.
func written(t *testing.T, c vt.Config, in []byte, n int) (e vt.Engine, text, replies string) {
	var b strings.Builder
	c.Effects = &vt.Effects{Reply: func(p []byte) { replies += string(p) }}
	e = vt.NewEngine(c)
	for len(in) > 0 {
		part := in[:min(n, len(in))]
		b.Write(e.Write(part))
		if err := vt.Check(e); err != nil {
			t.Fatalf("after %q: %v", b.String(), err)
		}
		in = in[len(part):]
	}
	return e, b.String(), replies
}

// equal compares frames by the lines of their histories, which may lie in different blocks.
func equal(a, b *vt.Frame) bool {
	x, y := *a, *b
	x.History, y.History = vt.LinesOf(a.History.Slice()...), vt.LinesOf(b.History.Slice()...)
	return reflect.DeepEqual(x, y)
}

func same(t *testing.T, what string, want, got vt.Engine) {
	t.Helper()
	w, g := want.Freeze(), got.Freeze()
	if !equal(w, g) {
		t.Fatalf("%s: %s\nwant %+v\ngot  %+v", what, strings.Join(snapshot.Differences(w, g), "\n"), w, g)
	}
}

// sameShown compares what viewers see of two engines.
func sameShown(t *testing.T, want, got vt.Engine) {
	t.Helper()
	shown := func(e vt.Engine) string { return string(snapshot.ANSI(e.Freeze(), snapshot.Options{Scrollback: -1})) }
	if w, g := shown(want), shown(got); w != g {
		t.Fatalf("viewer: want %q\ngot %q", w, g)
	}
}

// roundTrip encodes a frame in the middle of in, and paints it in another
// engine.
func roundTrip(t *testing.T, c vt.Config, in []byte, step int) {
	cut := step * len(in) / 70
	for cut < len(in) && !utf8.RuneStart(in[cut]) {
		cut++
	}
	e := vt.NewEngine(c)
	e.Write(in[:cut])
	f := e.Freeze()
	_, back, err := snapshot.Decode(snapshot.Encode(snapshot.Header{}, f))
	if err != nil {
		t.Fatalf("%v: %+v", err, f)
	}
	if f.LastChar != back.LastChar {
		t.Fatalf("encoded: REP repeats %q, not %q", back.LastChar, f.LastChar)
	}
	back.LastChar = 0 // what painting cannot carry, Differences takes for a difference
	if d := snapshot.Differences(f, back); d != nil && f.LastChar == 0 {
		t.Fatalf("encoded: %s", strings.Join(d, "\n"))
	}
	painted := vt.NewEngine(c)
	painted.Write(snapshot.ANSI(f, snapshot.Options{Scrollback: -1, Engine: true}))
	if err := vt.Check(painted); err != nil {
		t.Fatal(err)
	}
	if d := snapshot.Differences(f, painted.Freeze()); d != nil && !torn(f) && c.Cols > 1 && c.Rows > 1 {
		t.Fatalf("after %q painted by %q: %s", in[:cut], snapshot.ANSI(f, snapshot.Options{Scrollback: -1}),
			strings.Join(d, "\n"))
	}
}

// torn reports whether a row cannot be painted by printing it: it holds a mark
// that has a cell of its own, or a character that joins even the one it wraps to.
func torn(f *vt.Frame) bool {
	lines := append(f.History.Slice(), f.Main.Lines...)
	if f.Alt != nil {
		lines = append(lines, f.Alt.Lines...)
	}
	for _, l := range lines {
		for s := range l.Spans() {
			if s.Kind == vt.ZeroWidth || f.Unicode == vt.Unicode15Graphemes && strings.ContainsFunc(s.Text, prepends) {
				return true
			}
		}
	}
	return false
}

// prepends reports whether r joins the character behind it (UAX #29 GB9b).
func prepends(r rune) bool {
	return unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r == 0xd4e || r >= 0x11000 && r <= 0x11fff
}
