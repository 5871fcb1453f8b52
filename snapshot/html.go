package snapshot

import (
	"html"
	"slices"
	"strings"

	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Colours of a frame that sets none, as xterm has them (its ctlseqs and
// XTerm-col.ad), light on dark.
const (
	htmlForeground = 0xe5e5e5
	htmlBackground = 0x000000
)

// ansiColors are palette entries 0 to 15.
var ansiColors = [16]uint32{
	0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
}

// HTML returns what f shows as one <pre> element that needs no style sheet and
// runs no script: all text is escaped, styles are inline, links are http, https
// or mailto only. Before the screen come the last scrollback lines of the
// history, all when negative. Blinking is not shown.
func HTML(f *vt.Frame, scrollback int) string {
	var b strings.Builder
	_ = WriteHTML(&b, f, scrollback) // a builder takes everything
	return b.String()
}

type htmlWriter struct {
	out   *sink
	frame *vt.Frame
}

// begin opens the element.
func (h *htmlWriter) begin() {
	f := h.frame
	text, behind := h.hex(f.Foreground, htmlForeground), h.hex(f.Background, htmlBackground)
	if f.Modes.ReverseVideo {
		text, behind = behind, text
	}
	h.out.WriteString(`<pre style="color:` + text + `;background:` + behind + `">`)
}

func (h *htmlWriter) line(l vt.Line) {
	for r := range runsOf(l) {
		h.run(&r)
	}
	h.out.WriteString("\n")
}

// run writes a run, in a span or a link only when it has a style of its own.
func (h *htmlWriter) run(r *wire.Run) {
	style := h.style(r)
	switch {
	case r.Link != "":
		h.out.WriteString(`<a rel="noopener noreferrer" href="` + html.EscapeString(r.Link) +
			`" style="color:inherit;` + style + `">`)
		defer h.out.WriteString("</a>")
	case style != "":
		h.out.WriteString(`<span style="` + style + `">`)
		defer h.out.WriteString("</span>")
	}
	h.out.WriteString(html.EscapeString(r.Text))
}

// style is the inline style of a run. It is made of constants and hexadecimal
// numbers only.
func (h *htmlWriter) style(r *wire.Run) string {
	var css strings.Builder
	has := func(name string) bool { return slices.Contains(r.Attrs, name) }
	fg, bg := r.Fg, r.Bg
	if i, ok := fg.(int); ok && i < 8 && has("bold") {
		fg = i + 8 // as xterm.js draws bold text
	}
	text, behind := h.value(fg, h.hex(h.frame.Foreground, htmlForeground)),
		h.value(bg, h.hex(h.frame.Background, htmlBackground))
	inverse := has("inverse") != h.frame.Modes.ReverseVideo
	if inverse {
		text, behind = behind, text
	}
	if has("invisible") {
		text = "transparent"
	}
	for _, part := range [...]struct {
		on  bool
		css string
	}{
		{fg != nil || inverse || has("invisible"), "color:" + text + ";"},
		{bg != nil || inverse, "background:" + behind + ";"},
		{has("bold"), "font-weight:bold;"},
		{has("dim"), "opacity:.5;"},
		{has("italic"), "font-style:italic;"},
	} {
		if part.on {
			css.WriteString(part.css)
		}
	}
	css.WriteString(h.decoration(r, has))
	return css.String()
}

var underlineCSS = map[string]string{"single": "solid", "double": "double", "curly": "wavy", "dotted": "dotted",
	"dashed": "dashed"}

func (h *htmlWriter) decoration(r *wire.Run, has func(string) bool) string {
	line, look := "", ""
	if r.Underline != "" {
		line, look = " underline", ";text-decoration-style:"+underlineCSS[r.Underline]
		if r.UnderlineColor != nil {
			look += ";text-decoration-color:" + h.value(r.UnderlineColor, "")
		}
	}
	if has("strikethrough") {
		line += " line-through"
	}
	if has("overline") {
		line += " overline"
	}
	if line == "" {
		return ""
	}
	return "text-decoration-line:" + line[1:] + look + ";"
}

// value is a colour of a run in CSS.
func (h *htmlWriter) value(c any, byDefault string) string {
	switch c := c.(type) {
	case int:
		return h.hex(h.frame.Palette[uint8(c)], paletteColor(c))
	case string:
		return c
	}
	return byDefault
}

// hex is c, or byDefault when the frame does not set it.
func (h *htmlWriter) hex(c vt.Color, byDefault uint32) string {
	r, g, b, ok := c.RGB()
	if !ok {
		r, g, b = uint8(byDefault>>16), uint8(byDefault>>8), uint8(byDefault)
	}
	return string(appendHex(nil, r, g, b))
}

// paletteColor is entry i of the standard palette of 256 (xterm's 256colres.h).
func paletteColor(i int) uint32 {
	if i < len(ansiColors) {
		return ansiColors[i]
	}
	r, g, b := vt.PaletteRGB(uint8(i))
	return uint32(r)<<16 | uint32(g)<<8 | uint32(b)
}
