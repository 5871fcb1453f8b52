package snapshot

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// expected is what an xterm.js has to be that shows f. It is derived from the
// frame alone and knows nothing of how ANSI writes it.
func expected(f *vt.Frame, scrollback int) xstate {
	history := lastLines(f.History, scrollback).Slice()
	x := xstate{
		Cols: max(f.Cols, 2), Rows: f.Rows, Alt: f.Alt != nil, Pen: styleKey(f.Pen),
		Charsets: finals(f.Charsets), GL: int(f.Charsets.GL), Charset: string(finals(printingSets(f))[f.Charsets.GL]),
		Title: f.Title, Icon: f.Icon, Modes: expectedModes(f), Repeats: f.LastChar != 0,
		Main: expectedBuffer(f, &f.Main, history),
	}
	if f.Alt != nil {
		alt := expectedBuffer(f, f.Alt, nil)
		x.Other = &alt
		return x
	}
	var hidden xsaved
	if hidden.Charset = "B"; f.Hidden != nil {
		hidden = expectedSaved(f.Hidden.Saved)
	}
	x.Hidden = &hidden
	return x
}

func expectedModes(f *vt.Frame) xmodes {
	m := f.Modes
	x := xmodes{
		AppCursor: m.AppCursor, AppKeypad: m.AppKeypad, Origin: m.Origin, Autowrap: m.Autowrap,
		ReverseWrap: m.ReverseWrap,
		Paste:       m.BracketedPaste, Focus: m.FocusEvents, Sync: m.SyncOutput, Insert: m.Insert, Linefeed: m.Linefeed,
		Hidden: m.CursorHidden,
		Mouse:  []string{"NONE", "X10", "VT200", "DRAG", "ANY"}[m.Mouse],
		// xterm.js knows no others (its #2507).
		Encoding: []string{"DEFAULT", "DEFAULT", "SGR", "DEFAULT", "SGR_PIXELS"}[m.MouseEncoding],
	}
	if f.CursorStyle != 0 {
		x.CursorStyle, x.CursorBlink = f.CursorStyle.Shape(), f.CursorStyle.Blinks()
	}
	return x
}

func expectedBuffer(f *vt.Frame, s *vt.Screen, history []vt.Line) xbuffer {
	cols := f.Cols
	b := xbuffer{X: s.X, Y: s.Y, Base: len(history), Top: s.Top, Bottom: s.Bottom, Tabs: []int{}}
	if s.PendingWrap && cols > 1 {
		b.X++
	}
	if s.Beyond && cols > 1 {
		b.X++
	}
	first := s != &f.Main || f.Rows > 1 && len(history) == f.History.Len()
	for i, l := range slices.Concat(history, s.Lines) {
		b.Lines = append(b.Lines, xline{Wrapped: l.Wrapped() && (i > 0 || first) && cols > 1,
			Cells: expectedCells(l, cols, f.Unicode)})
	}
	for t := 8; t < cols; t += 8 {
		b.Tabs = append(b.Tabs, t)
	}
	if s.Tabs != nil {
		b.Tabs = slices.DeleteFunc(slices.Clone(s.Tabs), func(t int) bool { return t == 0 || t >= cols })
	}
	b.Saved = expectedSaved(s.Saved)
	return b
}

func expectedSaved(d vt.SavedCursor) xsaved {
	pen := d.Pen
	pen.Link, pen.Underline, pen.UnderlineColor = vt.Link{}, 0, 0 // xterm.js saves two words of a pen
	if lined, _ := d.Flags(); lined {
		pen.Underline = vt.UnderlineSingle
	}
	return xsaved{X: d.X, Y: max(d.Y, 0), Pen: styleKey(pen), Charset: string(finals(d.Charsets)[d.Charsets.GL])}
}

func expectedCells(l vt.Line, cols int, unicode vt.Unicode) []xcell {
	out := []xcell{}
	for s := range l.Spans() {
		style := normalizeStyle(s.Style)
		// Only with graphemes a mark that followed nothing has a width.
		textCells := textCells
		if unicode == vt.Unicode15Graphemes {
			textCells = baseCells
		}
		switch s.Kind {
		case vt.Blank:
			out = append(out, blankCells(s.Cells, style)...)
		case vt.ClusterOne, vt.ClusterWide:
			out = append(out, textCells(cellText(s), s.Cells, style)...)
		default:
			for _, r := range cellText(s) {
				width := 1
				switch {
				case s.Kind == vt.Wide && r != '\ufffd':
					width = 2
				case s.Kind == vt.ZeroWidth:
					width = 0
				}
				out = append(out, baseCells(string(r), width, style)...)
			}
		}
	}
	if len(out) > cols {
		out = out[:cols]
		if out[cols-1].Width == 2 {
			out[cols-1] = xcell{Width: 1}
		}
	}
	for len(out) > 0 && out[len(out)-1] == (xcell{Width: 1}) {
		out = out[:len(out)-1]
	}
	return out
}

func blankCells(n int, s vt.Style) []xcell {
	c := xcell{Width: 1, Style: styleKey(vt.Style{BG: s.BG})}
	if s.Underline != 0 || s.Link != (vt.Link{}) || s.Attr&(vt.Inverse|vt.Strikethrough|vt.Overline|vt.Protected) != 0 {
		c.Style = styleKey(s)
	}
	return slices.Repeat([]xcell{c}, n)
}

func textCells(text string, width int, s vt.Style) []xcell {
	if beginsWithMark(text) && utf8.RuneCountInString(text) == 1 {
		width = 0
	}
	return baseCells(text, width, s)
}

func baseCells(text string, width int, s vt.Style) []xcell {
	out := []xcell{{Text: text, Width: width, Style: styleKey(s)}}
	if width == 2 {
		out = append(out, xcell{Width: 0, Style: styleKey(s)})
	}
	return out
}

func finals(c vt.Charsets) string {
	g := c.G
	for i, f := range g {
		if f == 0 {
			g[i] = 'B'
		}
	}
	return string(g[:])
}

// styleKey joins a style as judge.cjs does.
func styleKey(s vt.Style) string {
	color := func(c vt.Color) string {
		if c == 0 {
			return ""
		}
		return fmt.Sprint(color(c))
	}
	var attrs strings.Builder
	for i, c := range "bdikrvsop" {
		if s.Attr&(1<<i) != 0 {
			attrs.WriteRune(c)
		}
	}
	uc := color(s.UnderlineColor)
	if s.Underline == 0 && s.Link.URI == "" {
		uc = "" // xterm.js underlines links, so theirs shows
	}
	if s.Link.URI == "" {
		s.Link.ID = ""
	}
	key := strings.Join([]string{color(s.FG), color(s.BG), attrs.String(), fmt.Sprint(int(s.Underline)), uc, s.Link.ID,
		s.Link.URI}, "\t")
	if key == "\t\t\t0\t\t\t" {
		return ""
	}
	return key
}

// cellDifference shows two rows from the first different cell to the last, at
// most a few.
func cellDifference(got, want []xcell) string {
	first := 0
	for first < min(len(got), len(want)) && got[first] == want[first] {
		first++
	}
	for len(got) == len(want) && got[len(got)-1] == want[len(want)-1] {
		got, want = got[:len(got)-1], want[:len(want)-1]
	}
	part := func(cells []xcell) string {
		var b strings.Builder
		for _, c := range cells[first:min(len(cells), first+10)] {
			fmt.Fprintf(&b, " %q", c.Text)
			if c.Width != 1 {
				fmt.Fprintf(&b, "/%d", c.Width)
			}
			if c.Style != "" {
				fmt.Fprintf(&b, "<%s>", strings.ReplaceAll(c.Style, "\t", ";"))
			}
		}
		if len(cells) > first+10 {
			b.WriteString(" …")
		}
		return b.String()
	}
	return fmt.Sprintf(" from column %d, to %d and %d (text/width<fg;bg;attributes;underline;its colour;link id;uri>):"+
		"\n got %s\n want%s", first, len(got), len(want), part(got), part(want))
}

// stateDifferences lists where two states differ, at most a few.
func stateDifferences(got, want xstate) (out []string) {
	add := func(format string, args ...any) {
		if len(out) < 6 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	buffers := func(name string, g, w xbuffer) {
		if len(g.Lines) != len(w.Lines) {
			add("%s: %d lines, want %d", name, len(g.Lines), len(w.Lines))
			return
		}
		for i := range g.Lines {
			if g.Lines[i].Wrapped != w.Lines[i].Wrapped {
				add("%s line %d: wrapped %v, want %v", name, i, g.Lines[i].Wrapped, w.Lines[i].Wrapped)
			}
			if !slices.Equal(g.Lines[i].Cells, w.Lines[i].Cells) {
				add("%s line %d%s", name, i, cellDifference(g.Lines[i].Cells, w.Lines[i].Cells))
			}
		}
		g.Lines, w.Lines = nil, nil
		if !reflect.DeepEqual(g, w) {
			add("%s:\n got  %+v\n want %+v", name, g, w)
		}
	}
	buffers("main", got.Main, want.Main)
	if got.Other != nil && want.Other != nil {
		buffers("alt", *got.Other, *want.Other)
	}
	got.Main, want.Main, got.Other, want.Other = xbuffer{}, xbuffer{}, nil, nil
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if a, b := g.Field(i).Interface(), w.Field(i).Interface(); !reflect.DeepEqual(a, b) {
			add("%s: got %+v, want %+v", g.Type().Field(i).Name, a, b)
		}
	}
	return out
}
