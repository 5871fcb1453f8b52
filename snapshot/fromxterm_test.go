package snapshot

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// frameOf is the frame an exact engine would freeze where xterm.js is in state
// x after the text head.
func frameOf(t testing.TB, x xstate, head []byte) *vt.Frame {
	m := x.Modes
	f := &vt.Frame{
		Cols: x.Cols, Rows: x.Rows, Unicode: vt.Unicode11, Title: x.Title, Icon: x.Icon,
		Pen: styleOf(t, x.Pen), Pending: vt.Unfinished(head),
		Modes: vt.Modes{
			AppCursor: m.AppCursor, AppKeypad: m.AppKeypad, Origin: m.Origin, Autowrap: m.Autowrap,
			ReverseWrap:    m.ReverseWrap,
			BracketedPaste: m.Paste, FocusEvents: m.Focus, SyncOutput: m.Sync, Insert: m.Insert, Linefeed: m.Linefeed,
			CursorHidden: m.Hidden,
			AltScreen:    x.Alt,
			Mouse:        vt.Mouse(slices.Index([]string{"NONE", "X10", "VT200", "DRAG", "ANY"}, m.Mouse)),
			MouseEncoding: vt.MouseEncoding(max(0,
				slices.Index([]string{"DEFAULT", "", "SGR", "", "SGR_PIXELS"}, m.Encoding))),
		},
	}
	if m.CursorStyle != "" {
		f.CursorStyle = vt.CursorStyle(2 + 2*slices.Index([]string{"block", "underline", "bar"}, m.CursorStyle))
		if m.CursorBlink {
			f.CursorStyle--
		}
	}
	copy(f.Charsets.G[:], x.Charsets)
	f.Charsets.GL = uint8(x.GL)
	if f.Charsets.G[x.GL] != x.Charset[0] {
		f.Invoked = x.Charset[0]
	}
	f.History, f.Main = screenOf(t, x.Main, x)
	if x.Other != nil {
		_, alt := screenOf(t, *x.Other, x)
		f.Alt = &alt
	}
	if h := x.Hidden; h != nil && *h != (xsaved{Charset: "B"}) {
		f.Hidden = &vt.Screen{Saved: savedOf(t, *h)}
	}
	s := f.Active()
	if at := s.X - 1; x.Repeats {
		if s.PendingWrap {
			at = s.X
		}
		if c := cellAt(s.Lines[s.Y], max(at, 0)); c.text != "" {
			f.LastChar, _ = utf8.DecodeLastRuneInString(c.text)
		}
	}
	return f
}

func screenOf(t testing.TB, b xbuffer, x xstate) (history vt.Lines, s vt.Screen) {
	var lines []vt.Line
	for _, l := range b.Lines {
		lines = append(lines, lineOf(t, l))
	}
	s = vt.Screen{
		Lines: lines[b.Base:], X: min(b.X, x.Cols-1), Y: b.Y, PendingWrap: b.X >= x.Cols, Beyond: b.X > x.Cols,
		Top: b.Top, Bottom: b.Bottom,
		Tabs:  append([]int{}, b.Tabs...),
		Saved: savedOf(t, b.Saved),
	}
	return vt.LinesOf(lines[:b.Base]...), s
}

func savedOf(t testing.TB, x xsaved) vt.SavedCursor {
	d := vt.SavedCursor{Set: true, X: x.X, Y: x.Y, Pen: styleOf(t, x.Pen)}
	d.Charsets.G[0] = x.Charset[0]
	return d
}

func lineOf(t testing.TB, l xline) vt.Line {
	var p vt.Packer
	for i, c := range l.Cells {
		style := styleOf(t, c.Style)
		runes := utf8.RuneCountInString(c.Text)
		switch {
		case c.Text == "" && c.Width == 0:
			if i == 0 || l.Cells[i-1].Width != 2 {
				p.Blank(1, style) // half of a wide character
			}
		case c.Text == "" || c.Width == 2 &&
			(i+1 == len(l.Cells) || l.Cells[i+1].Width != 0 || l.Cells[i+1].Text != ""):
			p.Blank(1, style) // erased, or half of a wide character too
		case runes == 1 && c.Width > 0:
			r, _ := utf8.DecodeRuneInString(c.Text)
			p.Char(r, c.Width, style)
		default:
			p.Cluster(c.Text, max(c.Width, 1), style)
		}
	}
	return p.Line(l.Wrapped)
}

// styleOf reads what styleKey writes.
func styleOf(t testing.TB, key string) (s vt.Style) {
	if key == "" {
		return s
	}
	part := strings.Split(key, "\t")
	for i, c := range []*vt.Color{&s.FG, &s.BG, 4: &s.UnderlineColor} {
		if c != nil && part[i] != "" {
			*c = parseColor(t, part[i])
		}
	}
	for _, c := range part[2] {
		s.Attr |= 1 << strings.IndexRune("bdikrvsop", c)
	}
	u, _ := strconv.Atoi(part[3])
	s.Underline = vt.Underline(u)
	s.Link = vt.Link{ID: part[5], URI: part[6]}
	return s
}

// alike makes equal what nobody can see apart: attributes of an erased cell that do not
// show. The first line's wrap flag has no meaning; neither has the main screen's cursor
// while the other is shown.
func alike(x xstate) xstate {
	blank := func(b *xbuffer) {
		b.Wider = false
		b.Lines = slices.Clone(b.Lines)
		for i := range b.Lines {
			l := &b.Lines[i]
			l.Wrapped = l.Wrapped && i > 0
			l.Cells = slices.Clone(l.Cells)
			for k, c := range l.Cells {
				if c.Width == 1 && c.Text == "" {
					l.Cells[k].Style = erasedKey(c.Style)
				}
			}
			for n := len(l.Cells); n > 0 && l.Cells[n-1] == (xcell{Width: 1}); n-- {
				l.Cells = l.Cells[:n-1]
			}
		}
	}
	blank(&x.Main)
	if x.Other != nil {
		other := *x.Other
		blank(&other)
		x.Other = &other
		x.Main.X, x.Main.Y = 0, 0
	}
	x.Data, x.Bells, x.Colors, x.Repeat = nil, 0, nil, ""
	return x
}
