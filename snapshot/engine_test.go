package snapshot

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// engineUnderTest is the engine that has to equal xterm.js.
var engineUnderTest vt.EngineFunc = vt.NewEngine

// step is a write, or a resize when cols is not 0.
type step struct {
	write      []byte
	cols, rows int
}

// stream is what happens to a terminal.
type stream struct {
	cols, rows, scrollback int
	unicode                vt.Unicode
	steps                  []step
}

// moment is what an engine is after a step, and what the step gave viewers.
type moment struct {
	step   int
	text   []byte
	frame  *vt.Frame
	replay bool // a viewer that resizes itself is no longer equal (Engine.Resize)
	bells  int
	// reflowed: the number of columns changed since the beginning.
	// cut: the text was not what was written, because of a query or a count, or a resize
	// moved the cursor away from the character before.
	reflowed, cut bool
}

// follow runs an engine through s. It freezes after the steps that look names.
func follow(newEngine vt.EngineFunc, s stream, look func(i int) bool) []moment {
	bells, reflowed, cut := 0, false, false
	var in, text []byte
	e := newEngine(vt.Config{Cols: s.cols, Rows: s.rows, Scrollback: s.scrollback, Unicode: s.unicode,
		Effects: &vt.Effects{Bell: func() {
			bells++
		}}})
	out := make([]moment, len(s.steps))
	for i, st := range s.steps {
		m := &out[i]
		m.step = i
		if st.cols > 0 {
			m.replay = !e.Resize(st.cols, st.rows)
			reflowed, cut = reflowed || st.cols != s.cols, true
		} else {
			m.text = bytes.Clone(e.Write(st.write))
			in, text = append(in, st.write...), append(text, m.text...)
			cut = cut || !bytes.Equal(repaired(in[:len(in)-e.Held()]), text)
		}
		m.bells, m.reflowed, m.cut = bells, reflowed, cut
		if look(i) {
			m.frame = e.Freeze()
		}
	}
	return out
}

// differenceAt runs s in an engine and gives an xterm.js what a viewer of that
// engine gets. It returns the first step after which the two are not equal and
// what differs then ("got" is the engine), or nothing; it looks only after the
// steps that look chooses. A resize after which the
// engine asks for a new snapshot ends the comparison, and so does what xterm.js
// cannot stand: a reflow that loses rows of a full buffer.
// An exception is a difference: it freezes a viewer for ever, so no engine may
// give text to viewers that leads to one.
func differenceAt(t testing.TB, j *judge, newEngine vt.EngineFunc, s stream,
	look func(i int) bool) (at int, out []string) {
	t.Helper()
	moments := follow(newEngine, s, look)
	jb := job{Cols: s.cols, Rows: s.rows, Scrollback: s.scrollback, Unicode: string(s.unicode)}
	for i, m := range moments {
		if m.replay {
			moments = moments[:i]
			j.replays++
			break
		}
		x := xstep{Write: m.text, Cols: s.steps[i].cols, Rows: s.steps[i].rows, Skip: m.frame == nil}
		if m.frame != nil {
			if x.Pending = m.frame.Pending; vt.Withheld(x.Pending) {
				x.Pending = nil
			}
		}
		jb.Steps = append(jb.Steps, x)
	}
	states := j.ask(t, jb) // fewer when xterm.js crashed
	for _, m := range moments {
		if m.frame == nil {
			continue
		}
		x := states[0]
		states = states[1:]
		switch {
		case x.Crash != "":
			return m.step, []string{fmt.Sprintf("xterm.js threw an exception: %.300s", x.Crash)}
		case x.Odd != "":
			return 0, nil
		}
		if out := compare(m, x); len(out) > 0 {
			return m.step, out
		}
	}
	return 0, nil
}

// broken reports whether x is not a state to be equal to.
func (x xstate) broken() bool { return x.Crash != "" || x.Odd != "" }

// neverSeen reports whether an engine's text keeps viewers from this state: history above
// the alternate screen, or half of a wide character.
func (x xstate) neverSeen() bool {
	half := func(b xbuffer) bool {
		return slices.ContainsFunc(b.Lines, func(l xline) bool {
			for i := range l.Cells {
				if halfAt(l.Cells, i) {
					return true
				}
			}
			return false
		})
	}
	return half(x.Main) || x.Other != nil && (x.Other.Base > 0 || half(*x.Other))
}

// compare lists where an engine's frame is not what xterm.js is.
func compare(m moment, x xstate) (out []string) {
	f := m.frame
	for _, s := range []*vt.Screen{&f.Main, f.Alt} {
		if s != nil && len(s.Lines) != f.Rows {
			return []string{fmt.Sprintf("a screen of %d lines in %d rows", len(s.Lines), f.Rows)}
		}
	}
	if len(x.Data) > 0 {
		out = append(out, fmt.Sprintf("the viewer answered %q", x.Data))
	}
	if x.Bells != m.bells {
		out = append(out, fmt.Sprintf("%d bells, want %d", m.bells, x.Bells))
	}
	if got, want := paletteOf(f), foldColors(x.Colors); got != want {
		out = append(out, fmt.Sprintf("colours: got %s, want %s", got, want))
	}
	want := x
	if m.reflowed {
		want.Main = anyClusters(expected(f, -1).Main, x.Main)
	}
	if f.LastChar == 0 && (x.Repeat == "" || m.cut) {
		want.Repeats = false
	}
	got, want := sayable(engineState(f, x), want)
	return append(out, stateDifferences(got, want)...)
}

// engineState is expected(f) with what only states of steps have.
func engineState(f *vt.Frame, x xstate) xstate {
	got := expected(f, -1)
	got.Pen = styleKey(normalizeStyle(f.Pen))
	got.Sequence = x.PendingParser
	if f.LastChar != 0 && x.Repeats && x.Repeat != "" && !strings.ContainsRune(x.Repeat, f.LastChar) {
		got.Icon += fmt.Sprintf(" (LastChar is %q)", f.LastChar)
	}
	return got
}

// paletteOf says which colours a frame changed.
func paletteOf(f *vt.Frame) string {
	colors := map[string]string{}
	set := func(i int, c vt.Color) {
		if r, g, b, ok := c.RGB(); ok {
			colors[strconv.Itoa(i)] = fmt.Sprintf("%d,%d,%d", r, g, b)
		}
	}
	for i, c := range f.Palette {
		set(int(i), c)
	}
	for i, c := range []vt.Color{f.Foreground, f.Background, f.CursorColor} {
		set(256+i, c)
	}
	return fmt.Sprint(colors)
}

// foldColors says what the colour requests of an xterm.js come to: kind (0
// asked, 1 set, 2 restored), index, channels.
func foldColors(events []string) string {
	colors := map[string]string{}
	for _, e := range events {
		kind, rest, _ := strings.Cut(e, ":")
		index, channels, _ := strings.Cut(rest, ":")
		switch {
		case kind == "0":
			colors["asked "+index] = "?"
		case kind == "1":
			colors[index] = channels
		case index != "":
			delete(colors, index)
		default:
			for i := range 256 {
				delete(colors, strconv.Itoa(i))
			}
		}
	}
	return fmt.Sprint(colors)
}

// repaired is p as viewers must get it when nothing in it is a query or a huge
// count: every byte that is not UTF-8 is one U+FFFD.
func repaired(p []byte) []byte {
	var out []byte
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p)
		if r == utf8.RuneError && size == 1 {
			out = append(out, "\ufffd"...)
		} else {
			out = append(out, p[:size]...)
		}
		p = p[size:]
	}
	return out
}
