package snapshot

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// maxKitty bounds a kitty keyboard stack; the protocol lets a terminal evict
// the oldest entries, and programs nest two or three.
const maxKitty = 64 // entries

// normalize returns a copy of f in which everything is inside vt's limits and the
// screen: sizes 1..vt.MaxSize, exactly Rows lines, cursors and margins on the
// screen, known modes and styles, strings without control characters, and in
// Pending nothing but a sequence that is really unfinished. The lines
// themselves are shared and not looked at.
func normalize(f *vt.Frame) *vt.Frame {
	g := *f
	g.Cols = min(max(f.Cols, vt.MinSize), vt.MaxSize)
	g.Rows = min(max(f.Rows, vt.MinSize), vt.MaxSize)
	if g.Unicode != vt.Unicode15Graphemes {
		g.Unicode = vt.Unicode11
	}
	g.History = f.History.Last(vt.MaxScrollback)
	g.Main = normalizeScreen(f.Main, g.Cols, g.Rows)
	if f.Alt != nil {
		alt := normalizeScreen(*f.Alt, g.Cols, g.Rows)
		g.Alt = &alt
	}
	g.Hidden = normalizeHidden(f, g.Cols, g.Rows)
	g.Modes.AltScreen = f.Alt != nil
	g.Modes.Mouse = inRange(f.Modes.Mouse, vt.MouseAny)
	g.Modes.MouseEncoding = inRange(f.Modes.MouseEncoding, vt.MouseEncodingSGRPixels)
	g.CursorStyle = inRange(f.CursorStyle, 6)
	g.Charsets = normalizeCharsets(f.Charsets)
	g.Invoked = normalizeInvoked(f.Invoked, g.Charsets)
	g.Pen = normalizeStyle(f.Pen)
	g.Extended = normalizeExtended(f.Extended)
	g.Open = normalizeOpenLink(&g, g.Rows)
	if !utf8.ValidRune(f.LastChar) || unprintable(f.LastChar) {
		g.LastChar = 0
	}
	g.Title, g.Icon = plainString(f.Title), plainString(f.Icon)
	g.CwdHost, g.Cwd = plainHost(f.CwdHost), plainString(f.Cwd)
	g.Palette, g.OtherColors = normalizePalette(f.Palette), normalizePalette(f.OtherColors)
	g.Foreground, g.Background, g.CursorColor = direct(f.Foreground), direct(f.Background), direct(f.CursorColor)
	g.Pending = openTail(f.Pending)
	return &g
}

// normalizeHidden is what the alternate screen keeps while it is not shown.
func normalizeHidden(f *vt.Frame, cols, rows int) *vt.Screen {
	if f.Alt != nil || f.Hidden == nil || !f.Hidden.Saved.Set && len(f.Hidden.Kitty) == 0 {
		return nil
	}
	s := normalizeScreen(vt.Screen{Saved: f.Hidden.Saved, Kitty: f.Hidden.Kitty}, cols, rows)
	return &s
}

func normalizeScreen(s vt.Screen, cols, rows int) vt.Screen {
	if len(s.Lines) != rows {
		lines := make([]vt.Line, rows)
		copy(lines, s.Lines)
		s.Lines = lines
	}
	s.X, s.Y = min(max(s.X, 0), cols-1), min(max(s.Y, 0), rows-1)
	s.PendingWrap = s.PendingWrap && s.X == cols-1
	s.Beyond = s.Beyond && s.PendingWrap
	if s.Top < 0 || s.Bottom >= rows || s.Top >= s.Bottom {
		s.Top, s.Bottom = 0, rows-1
	}
	if s.Tabs != nil {
		s.Tabs = normalizeTabs(s.Tabs)
	}
	s.Kitty = s.Kitty[max(0, len(s.Kitty)-maxKitty):]
	d := &s.Saved
	if !d.Set {
		*d = vt.SavedCursor{}
	}
	d.X, d.Y = min(max(d.X, 0), cols-1), min(max(d.Y, -vt.MaxScrollback), vt.MaxSize-1)
	d.PendingWrap = d.PendingWrap && d.X == cols-1
	d.Beyond = d.Beyond && d.PendingWrap
	d.FlagsDiffer &= vt.FlagUnderlined | vt.FlagExtended
	d.Pen, d.Charsets = normalizeStyle(d.Pen), normalizeCharsets(d.Charsets)
	return s
}

// maxTab is the last column that can have a tab stop: the cursor was beyond the last
// one of the widest screen.
const maxTab = vt.MaxSize + 1

// normalizeTabs returns the stops that there can be, ascending, each once.
func normalizeTabs(tabs []int) []int {
	tabs = slices.DeleteFunc(slices.Clone(tabs), func(t int) bool { return t < 0 || t > maxTab })
	slices.Sort(tabs)
	return slices.Compact(tabs)
}

// normalizeCharsets turns designations that no 94-character set has (ECMA-35 14.2)
// into ASCII, which it writes as 0.
func normalizeCharsets(c vt.Charsets) vt.Charsets {
	for i, final := range c.G {
		if final < '0' || final > '~' || final == 'B' {
			c.G[i] = 0
		}
	}
	c.GL = inRange(c.GL, 3)
	return c
}

// normalizeInvoked is the set in force, 0 when c says as much.
func normalizeInvoked(set byte, c vt.Charsets) byte {
	designated := c.G[c.GL]
	if set < '0' || set > '~' || set == designated || set == 'B' && designated == 0 {
		return 0
	}
	return set
}

func normalizeExtended(a *vt.ExtendedAttrs) *vt.ExtendedAttrs {
	if a == nil {
		return nil
	}
	s := normalizeStyle(vt.Style{Underline: a.Underline, UnderlineColor: a.UnderlineColor, Link: a.Link})
	return &vt.ExtendedAttrs{Underline: s.Underline, UnderlineColor: s.UnderlineColor, Link: s.Link,
		Underlined: a.Underlined, Extended: a.Extended}
}

// normalizeStyle makes the style of a pen one that Encode can keep.
func normalizeStyle(s vt.Style) vt.Style {
	s.FG, s.BG, s.UnderlineColor = known(s.FG), known(s.BG), known(s.UnderlineColor)
	s.Underline = inRange(s.Underline, vt.UnderlineDashed)
	if !sendable(s.Link) {
		s.Link = vt.Link{}
	}
	return s
}

func normalizePalette(p map[uint8]vt.Color) map[uint8]vt.Color {
	p = maps.Clone(p)
	maps.DeleteFunc(p, func(_ uint8, c vt.Color) bool { return direct(c) == 0 })
	return p
}

// known is c, or the default when c is no colour at all.
func known(c vt.Color) vt.Color {
	if i, ok := c.Palette(); ok && c == vt.PaletteColor(i) {
		return c
	}
	return direct(c)
}

// direct is c when it has channels of its own, else the default.
func direct(c vt.Color) vt.Color {
	if _, _, _, ok := c.RGB(); ok {
		return c
	}
	return 0
}

// plainHost is plainString of a host, which ends where a path begins.
func plainHost(s string) string {
	host, _, _ := strings.Cut(plainString(s), "/")
	return host
}

// plainString cuts s to vt.MaxString bytes and drops control characters and
// bytes that are not UTF-8.
func plainString(s string) string {
	if len(s) > vt.MaxString {
		s = s[:vt.MaxString]
	}
	if printable(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// inRange is v, or 0 when v is above last.
func inRange[T ~uint8](v, last T) T {
	if v > last {
		return 0
	}
	return v
}

// everyEight reports whether the tabs on the screen are the stops of a fresh
// terminal. Column 0 is no matter: nothing tabs onto it that would not stop there
// anyway.
func everyEight(tabs []int, cols int) bool {
	return tabs == nil || slices.Equal(behindFirst(onScreen(tabs, cols)), usualStops(cols))
}

// usualStops are the tab stops of a fresh terminal, without column 0.
func usualStops(cols int) (stops []int) {
	for t := 8; t < cols; t += 8 {
		stops = append(stops, t)
	}
	return stops
}

// behindFirst are the tab stops without column 0.
func behindFirst(tabs []int) []int {
	if len(tabs) > 0 && tabs[0] == 0 {
		return tabs[1:]
	}
	return tabs
}

// onScreen are the tab stops left of column cols.
func onScreen(tabs []int, cols int) []int {
	n, _ := slices.BinarySearch(tabs, cols)
	return tabs[:n]
}
