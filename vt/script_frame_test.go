package vt_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// describe is the frame in the words of a block.
func describe(f *vt.Frame) []string {
	var d description
	n := f.History.Len()
	for i, l := range f.History.Slice() {
		if i == 0 {
			d.add("sb %d", n)
		}
		if n <= 20 || i >= n-3 {
			d.row("hist", i, l)
		}
	}
	s := f.Active()
	if f.Alt != nil {
		d.rows("main", f.Main.Lines)
	}
	d.rows("row", s.Lines)
	wrap := ""
	if s.PendingWrap {
		wrap = " wrap"
	}
	d.add("cursor %d,%d%s", s.X, s.Y, wrap)
	if f.Alt != nil {
		d.screen("main ", &f.Main, f.Cols, f.Rows)
	}
	d.screen("", s, f.Cols, f.Rows)
	if f.Hidden != nil {
		d.saved("hidden ", f.Hidden.Saved)
	}
	d.modes(&f.Modes)
	d.sets("pen", "", styleWords(f.Pen))
	if c := setNames(f.Charsets); c != "BBBB/0" {
		d.add("sets %s", c)
	}
	if f.Invoked != 0 {
		d.add("invoked %c", f.Invoked)
	}
	if f.CursorStyle != 0 {
		d.add("style %d", f.CursorStyle)
	}
	d.strings(f)
	return d.lines
}

// description collects the lines of describe.
type description struct{ lines []string }

func (d *description) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// sets adds word and value unless value is empty.
func (d *description) sets(word, prefix, value string) {
	if value != "" {
		d.add("%s %s%s", word, prefix, value)
	}
}

func (d *description) rows(word string, lines []vt.Line) {
	for y, l := range lines {
		if visible(l).Size() > 0 || l.Wrapped() {
			d.row(word, y, l)
		}
	}
}

func (d *description) row(word string, y int, l vt.Line) {
	plus := ""
	if l.Wrapped() {
		plus = "+"
	}
	d.add("%s%s %d %s", word, plus, y, quote(markup(l)))
}

// saved adds what DECSC kept of a screen. Of the pen xterm.js keeps no link, and
// only whether it is underlined.
func (d *description) saved(prefix string, c vt.SavedCursor) {
	c.Pen.Link, c.Pen.Underline, c.Pen.UnderlineColor = vt.Link{}, min(c.Pen.Underline, 1), 0
	words := styleWords(c.Pen)
	if set := c.Charsets.G[c.Charsets.GL]; set != 0 && set != 'B' {
		words = fmt.Sprintf("set=%c %s", set, words)
	}
	if c.Set && (c.X != 0 || c.Y != 0 || words != "") {
		d.add("%s", strings.TrimSpace(fmt.Sprintf("%ssaved %d,%d %s", prefix, c.X, c.Y, words)))
	}
}

// screen adds what belongs to one screen besides its cells.
func (d *description) screen(prefix string, s *vt.Screen, cols, rows int) {
	saved := s.Saved
	saved.Y = min(max(saved.Y, 0), rows-1) // where DECRC would go now
	d.saved(prefix, saved)
	if s.Top != 0 || s.Bottom != rows-1 {
		d.add("%sregion %d,%d", prefix, s.Top, s.Bottom)
	}
	if tabs := tabsOn(s.Tabs, cols); tabs != nil {
		d.add("%s", strings.TrimSpace(prefix+"tabs "+strings.Trim(fmt.Sprint(tabs), "[]")))
	}
}

// tabsOn are the stops on the screen, nil when every 8 columns.
func tabsOn(tabs []int, cols int) []int {
	if tabs == nil {
		return nil
	}
	var usual []int
	for x := 0; x < cols; x += 8 {
		usual = append(usual, x)
	}
	tabs = slices.DeleteFunc(slices.Clone(tabs), func(x int) bool { return x >= cols })
	if slices.Equal(tabs, usual) {
		return nil
	}
	return tabs
}

// modes adds the switches that are not as in the beginning.
func (d *description) modes(m *vt.Modes) {
	var on []string
	for i := range reflect.TypeFor[vt.Modes]().NumField() {
		field := reflect.ValueOf(m).Elem().Field(i)
		name := strings.ToLower(reflect.TypeFor[vt.Modes]().Field(i).Name)
		if v, ok := field.Interface().(bool); ok && v && name != "autowrap" {
			on = append(on, name)
		}
	}
	d.sets("on", "", strings.Join(on, " "))
	if !m.Autowrap {
		d.add("off autowrap")
	}
	if m.Mouse != 0 || m.MouseEncoding != 0 {
		d.add("mouse %s %s", m.Mouse, m.MouseEncoding)
	}
	if m.Kitty != 0 {
		d.add("flags %d", m.Kitty)
	}
}

// strings adds names, colours and the unfinished sequence.
func (d *description) strings(f *vt.Frame) {
	for _, n := range [...]struct{ word, text string }{{"title", f.Title}, {"icon", f.Icon}, {"cwd", f.Cwd}} {
		if n.text != "" {
			d.add("%s %s", n.word, quote(n.text))
		}
	}
	var palette []string
	for i := range 256 {
		if c, ok := f.Palette[uint8(i)]; ok {
			palette = append(palette, fmt.Sprintf("%d=%s", i, colorWord(c)))
		}
	}
	d.sets("palette", "", strings.Join(palette, " "))
	if f.Foreground != 0 || f.Background != 0 || f.CursorColor != 0 {
		d.add("colours %s %s %s", colorWord(f.Foreground), colorWord(f.Background), colorWord(f.CursorColor))
	}
	if len(f.Pending) > 0 {
		d.add("pending %s", quote(string(f.Pending)))
	}
}

func setNames(c vt.Charsets) string {
	for i, final := range c.G {
		if final == 0 {
			c.G[i] = 'B'
		}
	}
	return fmt.Sprintf("%s/%d", c.G[:], c.GL)
}

// markup is the line as a row of a script.
func markup(l vt.Line) string {
	var b strings.Builder
	var style string
	for s := range visible(l).Spans() {
		if words := styleWords(s.Style); words != style {
			if style = words; words == "" {
				words = "/"
			}
			fmt.Fprintf(&b, "<%s>", words)
		}
		switch s.Kind {
		case vt.Blank:
			fmt.Fprintf(&b, "<_%d>", s.Cells)
		case vt.ClusterOne:
			fmt.Fprintf(&b, "<^%s>", s.Text)
		case vt.ClusterWide:
			fmt.Fprintf(&b, "<^^%s>", s.Text)
		default:
			appendCharacters(&b, s)
		}
	}
	return b.String()
}

// visible is l with erased cells in the style that shows of them, so that
// they join, and marks that have a cell of their own as clusters.
func visible(l vt.Line) vt.Line {
	var p vt.Packer
	for s := range l.Spans() {
		switch s.Kind {
		case vt.Blank:
			p.Blank(s.Cells, blankStyle(s.Style))
		case vt.ClusterOne, vt.ClusterWide:
			p.Cluster(s.Text, s.Cells, s.Style)
		case vt.ZeroWidth:
			for _, r := range s.Text {
				p.Cluster(string(r), 1, s.Style)
			}
		default:
			for _, r := range s.Text {
				p.Char(r, s.Cells/utf8.RuneCountInString(s.Text), s.Style)
			}
		}
	}
	return p.Line(l.Wrapped())
}

// appendCharacters adds plain characters. One that takes an unexpected number of
// cells stands as a cluster, so that a script shows it.
func appendCharacters(b *strings.Builder, s vt.Span) {
	for _, r := range s.Text {
		switch wide := looksWide(r); {
		case r == '<':
			b.WriteString("<<")
		case wide && s.Kind != vt.Wide:
			fmt.Fprintf(b, "<^%c>", r)
		case !wide && s.Kind == vt.Wide:
			fmt.Fprintf(b, "<^^%c>", r)
		default:
			b.WriteRune(r)
		}
	}
}

// looksWide reports whether a reader takes r for a character of two cells.
func looksWide(r rune) bool {
	return r >= 0x1100 && r < 0x1160 || r >= 0x2e80 && r < 0xa4d0 || r >= 0xac00 && r < 0xd7a4 || r >= 0xff01 &&
		r < 0xff61 || r >= 0x1f300 && r < 0x20000
}

// blankStyle is what shows of the style of an erased cell.
func blankStyle(s vt.Style) vt.Style {
	s.Attr &= vt.Inverse | vt.Strikethrough | vt.Overline
	if s.Attr == 0 && s.Underline == 0 && s.Link == (vt.Link{}) {
		s.FG, s.UnderlineColor = 0, 0
	}
	return s
}

var attrWords = [...]string{"bold", "dim", "italic", "blink", "inverse", "invisible", "strike", "overline", "protected"}

var underlineWords = [...]string{"", "single", "double", "curly", "dotted", "dashed"}

func styleWords(s vt.Style) string {
	var words []string
	set := func(key, value string) {
		if value != "" {
			words = append(words, key+value)
		}
	}
	color := func(key string, c vt.Color) {
		if c != 0 {
			set(key, colorWord(c))
		}
	}
	color("fg=", s.FG)
	color("bg=", s.BG)
	for i, w := range attrWords {
		if s.Attr&(1<<i) != 0 {
			set(w, " ")
		}
	}
	set("ul=", underlineWords[s.Underline])
	color("uc=", s.UnderlineColor)
	set("link=", s.Link.URI)
	set("id=", s.Link.ID)
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// colorWord is a palette index, #rrggbb, or - for the default.
func colorWord(c vt.Color) string {
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	if i, ok := c.Palette(); ok {
		return strconv.Itoa(int(i))
	}
	return "-"
}
