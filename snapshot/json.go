package snapshot

import (
	"iter"
	"strings"

	"github.com/evertty/evertty/vt"
)

// Screen is a frame as the API shows it ("Screen JSON"). Columns and rows count
// from 0.
type Screen struct {
	Cols         int          `json:"cols"`
	Rows         int          `json:"rows"`
	Cursor       Cursor       `json:"cursor"`
	Title        string       `json:"title"`
	Alt          bool         `json:"alt"`
	Modes        Modes        `json:"modes"`
	ScrollRegion ScrollRegion `json:"scroll_region"`
	Lines        []Row        `json:"lines"`
	Scrollback   []Row        `json:"scrollback"`
}

// Cursor is the cursor of the shown screen.
type Cursor struct {
	X       int    `json:"x"`
	Y       int    `json:"y"`
	Visible bool   `json:"visible"`
	Style   string `json:"style"` // block, underline or bar
	Blink   bool   `json:"blink"`
	// PendingWrap: a character stands in the last column and the next one wraps first.
	PendingWrap bool `json:"pending_wrap"`
}

// Modes are the modes under their names in the API.
type Modes struct {
	ApplicationCursor  bool   `json:"application_cursor"`
	ApplicationKeypad  bool   `json:"application_keypad"`
	Origin             bool   `json:"origin"`
	Autowrap           bool   `json:"autowrap"`
	ReverseWrap        bool   `json:"reverse_wrap"`
	Insert             bool   `json:"insert"`
	Linefeed           bool   `json:"linefeed"`
	ReverseVideo       bool   `json:"reverse_video"`
	BracketedPaste     bool   `json:"bracketed_paste"`
	FocusEvents        bool   `json:"focus_events"`
	Mouse              string `json:"mouse"`
	MouseEncoding      string `json:"mouse_encoding"`
	SynchronizedOutput bool   `json:"synchronized_output"`
	KittyKeyboard      uint8  `json:"kitty_keyboard"`
}

// ScrollRegion are the rows that scroll, both included.
type ScrollRegion struct {
	Top    int `json:"top"`
	Bottom int `json:"bottom"`
}

// Row is one line: its text without the blanks at the end, and its runs up to
// the last cell that is not a default blank.
type Row struct {
	Wrapped bool   `json:"wrapped"` // continues the row above
	Text    string `json:"text"`
	Runs    []Run  `json:"runs"`
}

// Run is a part of a line in one style. Erased cells are spaces.
type Run struct {
	Text           string   `json:"text"`
	Cells          int      `json:"cells"`
	FG             any      `json:"fg"` // nil, a palette index or "#rrggbb"
	BG             any      `json:"bg"`
	Attrs          []string `json:"attrs"`
	Underline      string   `json:"underline,omitempty"`
	UnderlineColor any      `json:"underline_color,omitempty"`
	Link           string   `json:"link,omitempty"`
}

// JSON returns f for the API with the last scrollback lines of its history, all
// when negative.
func JSON(f *vt.Frame, scrollback int) Screen {
	f = normalize(f)
	s := screenHead(f)
	s.Lines, s.Scrollback = rows(f.Active().Lines), rows(lastLines(f.History, scrollback).Slice())
	return s
}

// screenHead returns the normalized frame f without its lines.
func screenHead(f *vt.Frame) Screen {
	s := f.Active()
	return Screen{
		Cols: f.Cols, Rows: f.Rows,
		Cursor: Cursor{
			X: s.X, Y: s.Y, Visible: !f.Modes.CursorHidden, Style: f.CursorStyle.Shape(),
			Blink: f.CursorStyle.Blinks(), PendingWrap: s.PendingWrap,
		},
		Title: f.Title, Alt: f.Alt != nil, Modes: modes(&f.Modes),
		ScrollRegion: ScrollRegion{Top: s.Top, Bottom: s.Bottom},
	}
}

// ModesOf returns m under the names of the API.
func ModesOf(m vt.Modes) Modes { return modes(&m) }

func modes(m *vt.Modes) Modes {
	return Modes{
		ApplicationCursor: m.AppCursor, ApplicationKeypad: m.AppKeypad, Origin: m.Origin, Autowrap: m.Autowrap,
		ReverseWrap: m.ReverseWrap, Insert: m.Insert, Linefeed: m.Linefeed, ReverseVideo: m.ReverseVideo,
		BracketedPaste: m.BracketedPaste, FocusEvents: m.FocusEvents, Mouse: m.Mouse.String(),
		MouseEncoding: m.MouseEncoding.String(), SynchronizedOutput: m.SyncOutput, KittyKeyboard: m.Kitty,
	}
}

func rows(lines []vt.Line) []Row {
	out := make([]Row, len(lines))
	for i, l := range lines {
		out[i] = Row{Wrapped: l.Wrapped(), Text: string(appendPlain(nil, l)), Runs: runs(l)}
	}
	return out
}

// runs joins neighbouring spans that look the same.
func runs(l vt.Line) []Run {
	out := []Run{}
	for r := range runsOf(l) {
		out = append(out, r)
	}
	return out
}

// runsOf yields the runs of a line: neighbouring spans that look the same are one.
func runsOf(l vt.Line) iter.Seq[Run] {
	return func(yield func(Run) bool) {
		var open Run
		var text []byte
		var style vt.Style
		for s := range l.Spans() {
			if look := visible(s.Style); open.Cells == 0 || look != style {
				if open.Text = string(text); open.Cells > 0 && !yield(open) {
					return
				}
				open, text, style = newRun(look), text[:0], look
			}
			if s.Kind == vt.Blank {
				text = appendSpaces(text, s.Cells)
			} else {
				text = append(text, cellText(s)...)
			}
			open.Cells += s.Cells
		}
		if open.Text = string(text); open.Cells > 0 {
			yield(open)
		}
	}
}

// visible is the part of a style that people see or may follow.
func visible(s vt.Style) vt.Style {
	s = normalizeStyle(s)
	s.Attr &= sgrAttrs
	s.Link = vt.Link{URI: followable(s.Link.URI)}
	return s
}

var (
	attrNames = [...]struct {
		attr vt.Attr
		name string
	}{
		{vt.Bold, "bold"}, {vt.Dim, "dim"}, {vt.Italic, "italic"}, {vt.Blink, "blink"}, {vt.Inverse, "inverse"},
		{vt.Invisible, "invisible"}, {vt.Strikethrough, "strikethrough"}, {vt.Overline, "overline"},
	}
	underlineNames = [...]string{"", "single", "double", "curly", "dotted", "dashed"}
)

func newRun(s vt.Style) Run {
	r := Run{
		FG: color(s.FG), BG: color(s.BG), Attrs: []string{}, Underline: underlineNames[s.Underline],
		UnderlineColor: color(s.UnderlineColor), Link: s.Link.URI,
	}
	for _, a := range attrNames {
		if s.Attr&a.attr != 0 {
			r.Attrs = append(r.Attrs, a.name)
		}
	}
	return r
}

// color is c in the API: nil, a palette index or "#rrggbb".
func color(c vt.Color) any {
	if i, ok := c.Palette(); ok {
		return int(i)
	}
	if r, g, b, ok := c.RGB(); ok {
		return string(appendHex(nil, r, g, b))
	}
	return nil
}

// maxLink is the longest address offered to people, in bytes: what browsers
// have long agreed on.
const maxLink = 2083

// followable is uri when a person may be offered to follow it, else "": only
// http, https and mailto, and no characters that cannot be in a URI and only
// serve to mislead.
func followable(uri string) string {
	if len(uri) > maxLink || !printable(uri) || strings.ContainsAny(uri, " \"<>\\^`{|}") {
		return ""
	}
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || rest == "" {
		return ""
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
		return uri
	}
	return ""
}
