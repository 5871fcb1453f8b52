package snapshot

import (
	"iter"
	"slices"
	"strings"

	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// JSON returns f for the API with the last scrollback lines of its history, all
// when negative. Its Seq is 0: a frame has no position.
func JSON(f *vt.Frame, scrollback int) wire.ScreenJSON {
	f = normalize(f)
	s := screenHead(f)
	s.Lines, s.Scrollback = rows(f.Active().Lines), rows(lastLines(f.History, scrollback).Slice())
	return s
}

// screenHead returns the normalized frame f without its lines.
func screenHead(f *vt.Frame) wire.ScreenJSON {
	s := f.Active()
	return wire.ScreenJSON{
		Cols: f.Cols, Rows: f.Rows,
		Cursor: wire.Cursor{
			X: s.X, Y: s.Y, Visible: !f.Modes.CursorHidden, Style: f.CursorStyle.Shape(),
			Blink: f.CursorStyle.Blinks(), PendingWrap: s.PendingWrap,
		},
		Title: f.Title, Alt: f.Alt != nil, Modes: ModesOf(f.Modes),
		ScrollRegion: wire.ScrollRegion{Top: s.Top, Bottom: s.Bottom},
	}
}

// ModesOf returns m under the names of the API.
func ModesOf(m vt.Modes) wire.Modes {
	return wire.Modes{
		ApplicationCursor: m.AppCursor, ApplicationKeypad: m.AppKeypad, Origin: m.Origin, Autowrap: m.Autowrap,
		ReverseWrap: m.ReverseWrap, Insert: m.Insert, Linefeed: m.Linefeed, ReverseVideo: m.ReverseVideo,
		BracketedPaste: m.BracketedPaste, FocusEvents: m.FocusEvents, Mouse: m.Mouse.String(),
		MouseEncoding: m.MouseEncoding.String(), SynchronizedOutput: m.SyncOutput, KittyKeyboard: int(m.Kitty),
	}
}

func rows(lines []vt.Line) []wire.Line {
	out := make([]wire.Line, len(lines))
	for i, l := range lines {
		out[i] = wire.Line{Wrapped: l.Wrapped(), Text: string(appendPlain(nil, l)),
			Runs: slices.AppendSeq([]wire.Run{}, runsOf(l))}
	}
	return out
}

// runsOf yields the runs of a line: neighbouring spans that look the same are one.
func runsOf(l vt.Line) iter.Seq[wire.Run] {
	return func(yield func(wire.Run) bool) {
		var open wire.Run
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

func newRun(s vt.Style) wire.Run {
	r := wire.Run{
		Fg: color(s.FG), Bg: color(s.BG), Attrs: []string{}, Underline: underlineNames[s.Underline],
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
