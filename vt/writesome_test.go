package vt_test

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
)

// dearInputs are chunks of 64 KiB that cost much for their length.
func dearInputs() map[string]string {
	chunk := func(unit string) string { return strings.Repeat(unit, 64<<10/len(unit)+1)[:64<<10] }
	return map[string]string{
		"text":       chunk("plain text in lines\r\n"),
		"DECALN":     chunk("\x1b#8"),
		"DECFRA":     chunk("\x1b[65;1;1;999;999$x"),
		"DECSED":     chunk("\x1b[?2J"),
		"marks":      "a" + chunk("\u0300"),
		"wide marks": "\x1b[?7l\x1b[999C" + chunk("日\u0301"),
		"OSC":        chunk("\x1b]0;" + strings.Repeat("title ", 10_000) + "\a"),
		"void OSC":   "\x1b]0;" + chunk("text"),
		"screens":    chunk("\x1b[?1049h\x1b[41m\x1b[?1049l"),
		"no UTF-8":   chunk("\xff\xe6\x97\x1b[?2J"),
		"REP":        chunk("a\x1b[999999b"),
	}
}

// TestWriteSome: output that is written a bit at a time leads to the state of a Write,
// and no call does much more than it was allowed.
func TestWriteSome(t *testing.T) {
	const work = 10_000
	engines := map[string]vt.EngineFunc{"native": vt.NewEngine, "vt10x": vt10x.New}
	for name, in := range dearInputs() {
		for engine, newEngine := range engines {
			t.Run(engine+"/"+name, func(t *testing.T) {
				c := vt.Config{Cols: 40, Rows: 10, Scrollback: 20}
				whole, some := newEngine(c), newEngine(c)
				whole.Write([]byte(in))
				calls := 0
				for rest := []byte(in); len(rest) > 0; calls++ {
					_, n := some.WriteSome(rest, work)
					if n < 1 || n > min(len(rest), work) {
						t.Fatalf("took %d of %d bytes", n, len(rest))
					}
					rest = rest[n:]
				}
				if calls < len(in)/work {
					t.Errorf("%d calls", calls)
				}
				if w, g := whole.Freeze(), some.Freeze(); !equal(w, g) {
					t.Errorf("a bit at a time: %+v\nwant %+v", g, w)
				}
			})
		}
	}
}

// TestWriteSomeOfHeldBytes: bytes of a character that never becomes complete go before
// anything else stops a call.
func TestWriteSomeOfHeldBytes(t *testing.T) {
	for _, in := range []string{"\xf0\x9f\x98|a", "\xf0\x9f\x98|\x80b", "\xe2\x82|\xff\xff\xffc", "\xf0|日本"} {
		head, tail, _ := strings.Cut(in, "|")
		whole, some := vt.New(vt.Config{Cols: 20, Rows: 2}), vt.New(vt.Config{Cols: 20, Rows: 2})
		whole.Write([]byte(head + tail))
		text := string(some.Write([]byte(head)))
		for rest := []byte(tail); len(rest) > 0; {
			part, n := some.WriteSome(rest, 1)
			text += string(part)
			rest = rest[n:]
		}
		if want := strings.ToValidUTF8(whole.Freeze().Main.Lines[0].Text(),
			"?"); some.Freeze().Main.Lines[0].Text() != want {
			t.Errorf("%q: %q, want %q", in, some.Freeze().Main.Lines[0].Text(), want)
		}
		if again := vt.New(vt.Config{Cols: 20, Rows: 2}); true {
			again.Write([]byte(text))
			if got := again.Freeze(); !equal(got, whole.Freeze()) {
				t.Errorf("%q: the text %q shows %+v", in, text, got)
			}
		}
	}
}

// TestWriteSomeIsBounded: also on the largest screen a call stops soon.
func TestWriteSomeIsBounded(t *testing.T) {
	const work = 100_000
	for name, in := range dearInputs() {
		t.Run(name, func(t *testing.T) {
			e := vt.New(vt.Config{Cols: vt.MaxSize, Rows: vt.MaxSize, Scrollback: vt.DefaultScrollback})
			most := 0
			rest := []byte(in)
			for range 50 {
				before := vt.Work(e)
				_, n := e.WriteSome(rest, work)
				most = max(most, vt.Work(e)-before)
				if rest = rest[n:]; len(rest) == 0 {
					break
				}
			}
			if limit := work + 4*vt.MaxSize*vt.MaxSize; most > limit {
				t.Errorf("a call did %d units, more than %d", most, limit)
			}
		})
	}
}
