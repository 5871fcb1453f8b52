package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// frameGap joins output within it into one frame: fewer frames make a smaller picture.
	frameGap = 80 * time.Millisecond
	// lastFrame is how long the end stands before the picture begins again.
	lastFrame = 4 * time.Second
)

// Sizes in pixels of the picture. charWidth fits a common monospace font of fontSize.
const (
	fontSize   = 14
	charWidth  = 8.43
	lineHeight = 19
	margin     = 14
	titleBar   = 30
)

// colors are the sixteen of the page's theme.
var colors = []string{
	"#1b222b", "#f07178", "#7fd88f", "#e8c56a", "#6cb2f0", "#c79bf0", "#5fd0cf", "#c8d0da",
	"#6b7684", "#ff8f94", "#9ce8aa", "#f5d98b", "#8fc8fb", "#dab6fb", "#84e3e1", "#f4f7fa",
}

// span is a part of a line in one style, as `evertty render --format json` has it.
type span struct {
	Text  string   `json:"text"`
	Cells int      `json:"cells"`
	FG    any      `json:"fg"`
	Attrs []string `json:"attrs"`
}

// screen is what a terminal shows.
type screen struct {
	Cursor struct {
		X, Y    int
		Visible bool
	} `json:"cursor"`
	Lines []struct {
		Spans []span `json:"runs"`
	} `json:"lines"`
}

// piece is a row of the picture, and when it is seen, counted from the beginning.
type piece struct {
	svg      string
	from, to time.Duration
}

// draw makes an SVG in which every row is visible as long as the terminal showed it.
func draw(binary string, recorded []chunk) ([]byte, error) {
	var pieces []piece
	var fed bytes.Buffer
	shown := make([]piece, rows+1) // the cursor is the last
	begin := recorded[0].at
	change := func(i int, svg string, at time.Duration) {
		if shown[i].svg == svg {
			return
		}
		if shown[i].svg != "" {
			shown[i].to = at
			pieces = append(pieces, shown[i])
		}
		shown[i] = piece{svg: svg, from: at}
	}
	for i, c := range recorded {
		fed.Write(c.data)
		if i+1 < len(recorded) && recorded[i+1].at-c.at < frameGap {
			continue
		}
		s, err := render(binary, fed.Bytes(), cols, rows)
		if err != nil {
			return nil, err
		}
		for y := range rows {
			change(y, s.row(y), c.at-begin)
		}
		change(rows, s.cursor(), c.at-begin)
	}
	total := recorded[len(recorded)-1].at - begin + lastFrame
	for i := range shown {
		change(i, "", total)
	}
	return animate(pieces, total), nil
}

// render is the screen of a size after output.
func render(binary string, output []byte, cols, rows int) (*screen, error) {
	size := []string{"--cols", strconv.Itoa(cols), "--rows", strconv.Itoa(rows)}
	command := exec.Command(binary, append([]string{"render", "--format", "json", "-"}, size...)...)
	command.Stdin = bytes.NewReader(output)
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	var s screen
	return &s, json.Unmarshal(text, &s)
}

// row draws one line.
func (s *screen) row(y int) string {
	if y >= len(s.Lines) {
		return ""
	}
	var out strings.Builder
	top := titleBar + margin + y*lineHeight
	cell := 0
	for _, part := range s.Lines[y].Spans {
		x, reverse := margin+float64(cell)*charWidth, slices.Contains(part.Attrs, "inverse")
		if reverse {
			fmt.Fprintf(&out, `<rect x="%.1f" y="%d" width="%.1f" height="%d"/>`, x, top, float64(part.Cells)*charWidth,
				lineHeight)
		}
		switch text := strings.TrimSpace(part.Text); {
		case text == "":
		case strings.Trim(text, "█▀▄ ") == "":
			out.WriteString(blocks(part.Text, x, top))
		case reverse:
			fmt.Fprintf(&out, `<text x="%.1f" y="%d" fill="%s">%s</text>`, x, top+fontSize, background,
				html.EscapeString(part.Text))
		default:
			fmt.Fprintf(&out, `<text x="%.1f" y="%d"%s>%s</text>`, x, top+fontSize, part.style(),
				html.EscapeString(part.Text))
		}
		cell += part.Cells
	}
	return out.String()
}

// blocks draws half blocks without the gaps that fonts leave between lines, so that a QR code can be read.
func blocks(text string, x float64, top int) string {
	const half = lineHeight / 2.0
	var path strings.Builder
	for i, r := range []rune(text) {
		y, height := float64(top), half
		switch r {
		case '█':
			height = lineHeight
		case '▄':
			y += half
		case '▀':
		default:
			continue
		}
		fmt.Fprintf(&path, "M%.2f %.1fh%.2fv%.1fh-%.2fz", x+float64(i)*charWidth, y, charWidth, height, charWidth)
	}
	return `<path shape-rendering="crispEdges" d="` + path.String() + `"/>`
}

// cursor draws the cursor.
func (s *screen) cursor() string {
	if !s.Cursor.Visible {
		return ""
	}
	return fmt.Sprintf(`<rect class="c" x="%.1f" y="%d" width="%.1f" height="%d"/>`,
		margin+float64(s.Cursor.X)*charWidth, titleBar+margin+s.Cursor.Y*lineHeight, charWidth, lineHeight-2)
}

// style is the attributes of a span.
func (s span) style() string {
	var out string
	if n, ok := s.FG.(float64); ok && int(n) < len(colors) {
		out = fmt.Sprintf(` fill="%s"`, colors[int(n)])
	}
	if slices.Contains(s.Attrs, "bold") {
		out += ` font-weight="bold"`
	}
	if slices.Contains(s.Attrs, "dim") {
		out += ` opacity="0.6"`
	}
	return out
}

// animate shows every piece in its time, for ever. With reduced motion only the end is shown.
func animate(pieces []piece, total time.Duration) []byte {
	var out, style strings.Builder
	fmt.Fprintf(&style, `
.f{visibility:hidden;animation:%.2fs step-end infinite}
@media (prefers-reduced-motion:reduce){.f{animation:none}.e{visibility:visible}}
`, total.Seconds())
	for i, p := range pieces {
		class, after := "f", "hidden"
		if p.to == total {
			class, after = "f e", "visible"
		}
		fmt.Fprintf(&out, "\n<g class=\"%s\" style=\"animation-name:k%d\">%s</g>", class, i, p.svg)
		fmt.Fprintf(&style, "@keyframes k%d{0%%{visibility:hidden}%s%%{visibility:visible}%s%%{visibility:%s}}\n",
			i, percent(p.from, total), percent(p.to, total), after)
	}
	return window(cols, rows, "A server is killed with kill -9. Its job runs on, and its screen comes back whole.",
		style.String(), out.String())
}

// background is the colour of the terminal.
const background = "#0f1318"

// window is the picture of a terminal of a size with its title for those who hear it, style and contents.
func window(cols, rows int, title, style, contents string) []byte {
	width, height := cols*843/100+2*margin, rows*lineHeight+titleBar+2*margin
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" fill="#d7dde6" role="img">
<title>%s</title>
<style>
text{font:%dpx ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
.c{fill:#46c796;opacity:.7}%s</style>
<rect width="%d" height="%d" rx="9" fill="%s"/>
`, width, height, width, title, fontSize, style, width, height, background)
	for i, fill := range []string{"#f07178", "#e8c56a", "#7fd88f"} {
		fmt.Fprintf(&svg, `<circle cx="%d" cy="%d" r="5.5" fill="%s"/>`, margin+6+i*19, titleBar/2+3, fill)
	}
	svg.WriteString(contents)
	svg.WriteString("\n</svg>\n")
	return svg.Bytes()
}

// percent is a part of the whole, for a keyframe.
func percent(part, total time.Duration) string {
	return strconv.FormatFloat(100*part.Seconds()/total.Seconds(), 'f', 3, 64)
}
