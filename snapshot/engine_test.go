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
var engineUnderTest vt.New = vt.NewTerminal

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
	reflowed bool
}

// follow runs an engine through s. It freezes after the steps that look names.
func follow(newEngine vt.New, s stream, look func(i int) bool) []moment {
	bells, reflowed := 0, false
	e := newEngine(vt.Config{Cols: s.cols, Rows: s.rows, Scrollback: s.scrollback, Unicode: s.unicode, Effects: &vt.Effects{Bell: func() { bells++ }}})
	out := make([]moment, len(s.steps))
	for i, st := range s.steps {
		m := &out[i]
		m.step = i
		if st.cols > 0 {
			m.replay = !e.Resize(st.cols, st.rows)
			reflowed = reflowed || st.cols != s.cols
		} else {
			m.text = bytes.Clone(e.Write(st.write))
		}
		m.bells, m.reflowed = bells, reflowed
		if look(i) {
			m.frame = e.Freeze()
		}
	}
	return out
}

// difference runs s in an engine and gives an xterm.js what a viewer of that
// engine gets. It returns the first step after which the two are not equal and
// what differs then ("got" is the engine), or nothing. A resize after which the
// engine asks for a new snapshot ends the comparison, and so does what xterm.js
// cannot stand: a reflow that loses rows of a full buffer, halves of wide
// characters that a reflow moves, and history above the alternate screen (it
// comes when a window became smaller before a program first entered that screen).
// An exception is a difference: it freezes a viewer for ever, so no engine may
// give text to viewers that leads to one.
func difference(t testing.TB, j *judge, newEngine vt.New, s stream) (at int, out []string) {
	t.Helper()
	return differenceAt(t, j, newEngine, s, func(int) bool { return true })
}

func differenceAt(t testing.TB, j *judge, newEngine vt.New, s stream, look func(i int) bool) (at int, out []string) {
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
			x.Pending = m.frame.Pending
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

// broken tells whether x is not a state to be equal to.
func (x xstate) broken() bool { return x.Crash != "" || x.Odd != "" }

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
	if x.Repeat == "" && f.LastChar == 0 {
		want.Repeats = false
	}
	got, want := sayable(engineState(f, x), want)
	return append(out, stateDifferences(got, want)...)
}

// engineState is expected(f) with what only states of steps have.
func engineState(f *vt.Frame, x xstate) xstate {
	got := expected(f, -1)
	got.Pen = styleKey(tidyStyle(f.Pen))
	got.Sequence = x.PendingParser
	if f.LastChar != 0 && x.Repeats && x.Repeat != "" && !strings.ContainsRune(x.Repeat, f.LastChar) {
		got.Icon += fmt.Sprintf(" (LastChar is %q)", f.LastChar)
	}
	return got
}

// sayable makes equal what a frame cannot say or what has no effect. These are
// all the liberties an engine has:
//
//   - Half of a wide character, left over when the other half was overwritten,
//     may be a blank: a frame has only whole characters.
//   - Of an erased cell only what shows counts: the background, and an underline,
//     a link and the like. Such a decorated one may be a space.
//   - More than 16 marks on a character.
//   - The first line's wrap flag: there is nothing it could continue.
//   - The main screen's cursor while the other is shown: xterm.js takes the
//     cursor along when the program leaves the other screen.
//   - A cursor more than one column behind the last: xterm.js treats it as one.
//   - A character to repeat that is in no cell before the cursor any more: REP
//     would print nothing.
//   - The text of a cluster after the columns changed: reflow in xterm.js gives
//     cells the clusters of others.
//   - The saved cursor outside the screen: it is restored inside.
//   - Whether a saved pen is underlined that is so only by what the last DECRC
//     left behind.
//   - Which set is designated where a restored cursor invoked another one: a
//     frame has one set for each of G0 to G3, so the invoked one counts.
//   - A cursor that blinks without a style (DECSCUSR 7 and more): a frame says
//     both in one number.
//   - What xterm.js does not have at all: kitty keyboard, ?5, ?2031, UTF-8 and
//     URXVT mouse encodings (expected leaves them out).
func sayable(got, want xstate) (xstate, xstate) {
	want.Parser, want.Data, want.Bells, want.Colors = "", nil, 0, nil
	want.PendingParser, want.Repeat = "", ""
	set := []byte(want.Charsets)
	set[want.GL] = want.Charset[0]
	want.Charsets = string(set)
	if want.Modes.CursorStyle == "" && want.Modes.CursorBlink {
		want.Modes.CursorStyle, want.Modes.CursorBlink = got.Modes.CursorStyle, got.Modes.CursorBlink
	}
	got.Charsets, got.Charset = sameSets.Replace(got.Charsets), sameSets.Replace(got.Charset)
	if got.Hidden != nil && want.Hidden != nil {
		g, w := *got.Hidden, *want.Hidden
		g.Charset, g.Y, w.Y = sameSets.Replace(g.Charset), min(g.Y, want.Rows-1), min(w.Y, want.Rows-1)
		got.Hidden, want.Hidden = &g, &w
	}
	got.Main, want.Main = sayableBuffers(got.Main, want.Main, want.Cols)
	if got.Other != nil && want.Other != nil {
		g, w := sayableBuffers(*got.Other, *want.Other, want.Cols)
		got.Other, want.Other = &g, &w
		got.Main.X, got.Main.Y = want.Main.X, want.Main.Y
	}
	return got, want
}

// plainKey joins the parts of a style again.
func plainKey(part []string) string {
	if key := strings.Join(part, "\t"); key != "\t\t\t0\t\t\t" {
		return key
	}
	return ""
}

// sameSets are the finals that name the same table in xterm.js: Finnish,
// Norwegian and Danish, Swedish.
var sameSets = strings.NewReplacer("5", "C", "6", "E", "7", "H")

func sayableBuffers(got, want xbuffer, cols int) (xbuffer, xbuffer) {
	want.X, want.Wider = min(want.X, cols), false
	got.Saved.Charset = sameSets.Replace(got.Saved.Charset)
	if part := strings.Split(got.Saved.Pen, "\t"); len(part) > 3 && part[3] == "1" {
		if part[3] = "0"; plainKey(part) == want.Saved.Pen {
			got.Saved.Pen = want.Saved.Pen
		}
	}
	got.Saved.X, got.Saved.Y = inside(got, want)
	want.Saved.X, want.Saved.Y = inside(want, want)
	if len(got.Lines) != len(want.Lines) {
		return got, want
	}
	got.Lines, want.Lines = slices.Clone(got.Lines), slices.Clone(want.Lines)
	for i := range want.Lines {
		g, w := &got.Lines[i], &want.Lines[i]
		w.Wrapped = w.Wrapped && i > 0
		g.Cells, w.Cells = sayableCells(g.Cells, w.Cells)
	}
	return got, want
}

// inside is b's saved cursor on the screen.
func inside(b, screen xbuffer) (x, y int) {
	rows := len(screen.Lines) - screen.Base
	return max(b.Saved.X, 0), min(max(b.Saved.Y, 0), max(rows-1, 0))
}

// anyClusters is want with the engine's text where both have a cluster.
func anyClusters(got, want xbuffer) xbuffer {
	cluster := func(c xcell) bool { return utf8.RuneCountInString(c.Text) > 1 }
	want.Lines = slices.Clone(want.Lines)
	for i := range want.Lines[:min(len(want.Lines), len(got.Lines))] {
		g, w := got.Lines[i].Cells, &want.Lines[i].Cells
		*w = slices.Clone(*w)
		for k := range (*w)[:min(len(*w), len(g))] {
			if cluster(g[k]) && cluster((*w)[k]) {
				(*w)[k].Text = g[k].Text
			}
		}
	}
	return want
}

// maxMarks is how many marks an engine keeps of a character.
const maxMarks = 16

// sayableCells takes the engine's word for what cannot be said of xterm.js's cells.
func sayableCells(got, want []xcell) (g, w []xcell) {
	got, want = slices.Clone(got), slices.Clone(want)
	for i, c := range want {
		if i < len(got) && utf8.RuneCountInString(c.Text) > 1+maxMarks && strings.HasPrefix(c.Text, firstRunes(got[i].Text, 1+maxMarks)) {
			c.Text = got[i].Text
			want[i] = c
		}
		for len(got) <= i {
			got = append(got, xcell{Width: 1})
		}
		erased := c.Text == "" && c.Width == 1
		blank := strings.TrimSpace(got[i].Text) == "" && got[i].Width == 1
		if blank && (halfAt(want, i) || erased && blankKey(got[i].Style) == blankKey(c.Style) && (got[i].Text == "" || decorated(c.Style))) {
			got[i] = c
		}
	}
	return got, want
}

// halfAt tells whether cell i is one half of a wide character without the other.
func halfAt(cells []xcell, i int) bool {
	c := cells[i]
	lead := c.Width == 2 && (i+1 == len(cells) || cells[i+1].Width != 0 || cells[i+1].Text != "")
	return lead || c.Width == 0 && c.Text == "" && (i == 0 || cells[i-1].Width != 2)
}

func firstRunes(s string, n int) string {
	r := []rune(s)
	return string(r[:min(len(r), n)])
}

// decorated tells whether a style shows on a blank in more than its background.
func decorated(key string) bool {
	part := strings.Split(blankKey(key), "\t")
	return len(part) > 1 && (part[2] != "" || part[3] != "0" || part[6] != "")
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
