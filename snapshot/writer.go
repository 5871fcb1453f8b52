package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/evertty/evertty/vt"
)

// MaxSize bounds a snapshot in any format, in bytes of what is sent: more than
// viewers can use, and not so much that a few of them exhaust a server.
const MaxSize = 64 << 20

// spillAt is how much an encoder keeps before it writes, in bytes.
const spillAt = 32 << 10

// An Encoder writes f with the last lines of its history, all when scrollback is
// negative. It keeps some 32 KiB at a time and returns the writer's error.
type Encoder func(w io.Writer, f *vt.Frame, scrollback int) error

// WriteANSI is an Encoder of what ANSI returns, for a program that runs.
func WriteANSI(w io.Writer, f *vt.Frame, scrollback int) error {
	return Options{Scrollback: scrollback}.Write(w, f)
}

// Write is ANSI with these options that writes instead of returning. It returns the
// writer's error.
func (o Options) Write(w io.Writer, f *vt.Frame) error {
	p := painter{spills: w, out: make([]byte, 0, spillAt+spillAt/4)}
	p.frame(o, f)
	p.spill(0)
	return p.failed
}

// spill writes what was painted when it is more than keep bytes. The last character
// stays unless all goes: the painter looks at it.
func (p *painter) spill(keep int) {
	if p.spills == nil || len(p.out) <= keep {
		return
	}
	n := len(p.out)
	if keep > 0 {
		for n--; n > 0 && p.out[n]&0xc0 == 0x80; n-- {
		}
	}
	if p.failed == nil {
		_, p.failed = p.spills.Write(p.out[:n])
	}
	p.out = p.out[:copy(p.out, p.out[n:])]
}

// sink collects text for a writer. After an error it does nothing more.
type sink struct {
	w   io.Writer
	buf []byte
	err error
}

func (s *sink) WriteString(text string) {
	s.buf = append(s.buf, text...)
	if len(s.buf) >= spillAt {
		_ = s.flush() // kept for the end
	}
}

func (s *sink) flush() error {
	if s.err == nil && len(s.buf) > 0 {
		_, s.err = s.w.Write(s.buf)
	}
	s.buf = s.buf[:0]
	return s.err
}

// WriteText is an Encoder of what Text returns.
func WriteText(w io.Writer, f *vt.Frame, scrollback int) error {
	f = tidy(f)
	s := &sink{w: w}
	s.plain(lastLines(f.History, scrollback))
	for _, l := range f.Active().Lines {
		s.plainLine(l)
	}
	return s.flush()
}

func (s *sink) plain(lines vt.Lines) {
	for l := range lines.All() {
		if s.plainLine(l); s.err != nil {
			return
		}
	}
}

func (s *sink) plainLine(l vt.Line) {
	s.buf = append(appendPlain(s.buf, l), '\n')
	s.WriteString("")
}

// WriteHTML is an Encoder of what HTML returns.
func WriteHTML(w io.Writer, f *vt.Frame, scrollback int) error {
	f = tidy(f)
	h := htmlWriter{frame: f, out: &sink{w: w}}
	h.begin()
	for l := range lastLines(f.History, scrollback).All() {
		if h.line(l); h.out.err != nil {
			return h.out.err
		}
	}
	for _, l := range f.Active().Lines {
		h.line(l)
	}
	h.out.WriteString("</pre>\n")
	return h.out.flush()
}

// WriteJSON is an Encoder of what JSON returns, in JSON. With rest, further members
// follow those of the screen: `,"seq":1`.
func WriteJSON(w io.Writer, f *vt.Frame, scrollback int, rest string) error {
	f = tidy(f)
	head := screenHead(f)
	b, err := marshal(head)
	if err != nil {
		return err
	}
	s := &sink{w: w}
	const empty = `"lines":null,"scrollback":null}` // how head ends
	s.WriteString(string(bytes.TrimSuffix(b, []byte(empty))) + `"lines":[`)
	first := true
	for _, l := range f.Active().Lines {
		s.row(l, &first)
	}
	s.WriteString(`],"scrollback":[`)
	first = true
	for l := range lastLines(f.History, scrollback).All() {
		if s.row(l, &first); s.err != nil {
			return s.err
		}
	}
	s.WriteString("]" + rest + "}")
	return s.flush()
}

// row writes one line as a Row.
func (s *sink) row(l vt.Line, first *bool) {
	if !*first {
		s.WriteString(",")
	}
	*first = false
	s.value(`{"wrapped":`, l.Wrapped())
	s.value(`,"text":`, string(appendPlain(nil, l)))
	s.WriteString(`,"runs":[`)
	comma := ""
	for r := range runsOf(l) {
		if s.value(comma, r); s.err != nil {
			return
		}
		comma = ","
	}
	s.WriteString("]}")
}

// value writes what comes before a value, and the value in JSON.
func (s *sink) value(before string, v any) {
	b, err := marshal(v)
	if err != nil && s.err == nil {
		s.err = err
	}
	s.WriteString(before)
	s.buf = append(s.buf, b...)
	s.WriteString("")
}

// marshal is v in JSON, with <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// Fit says what of a frame can be sent when the encoding may have limit bytes: the
// frame, or one whose lines have lost their links, or their styles and marks too, when
// the screen alone is larger; and how many lines of the wanted history. It tries by
// encoding, so it takes as long. Errors are the encoder's own.
func Fit(f *vt.Frame, scrollback, limit int, encode Encoder) (*vt.Frame, int, error) {
	if roughly(f, scrollback) <= limit {
		return f, scrollback, nil
	}
	for _, lighter := range []func(vt.Line) vt.Line{nil, unlinked, bare} {
		g := lightened(f, lighter)
		n, err := fittingLines(g, scrollback, limit, encode)
		if err == nil {
			return g, n, nil
		}
		if !errors.Is(err, errTooLarge) {
			return nil, 0, err
		}
	}
	return lightened(f, func(vt.Line) vt.Line { return vt.Line{} }), 0, nil // no screen is so large
}

// fittingSteps is how often fittingLines halves what it does not know.
const fittingSteps = 3

// fittingLines is how many lines of history fit, within an eighth of the most. Errors:
// errTooLarge when the screen alone does not.
func fittingLines(f *vt.Frame, scrollback, limit int, encode Encoder) (int, error) {
	try := func(n int) error { return encode(&measure{room: limit}, f, n) }
	most := f.History.Len()
	if scrollback >= 0 {
		most = min(most, scrollback)
	}
	if err := try(most); !errors.Is(err, errTooLarge) {
		return most, err
	}
	if err := try(0); err != nil {
		return 0, err
	}
	low, high := 0, 16
	for ; high < most; high *= 2 {
		if err := try(high); errors.Is(err, errTooLarge) {
			break
		} else if err != nil {
			return 0, err
		}
		low = high
	}
	high = min(high, most)
	for range fittingSteps {
		if mid := (low + high) / 2; try(mid) == nil {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}

// errTooLarge is how a measure ends an encoding.
var errTooLarge = errors.New("the snapshot is too large")

// measure is a writer of at most room bytes.
type measure struct{ room int }

func (m *measure) Write(p []byte) (int, error) {
	if m.room -= len(p); m.room < 0 {
		return 0, errTooLarge
	}
	return len(p), nil
}

// What roughly counts for a line, for a run of one style, and for a byte of text that
// is escaped; a link is written up to twice and escaped.
const (
	roughLine, roughRun, roughByte, roughLink = 160, 480, 6, 12
)

// roughly is an upper bound of what any format takes, in bytes.
func roughly(f *vt.Frame, scrollback int) int {
	n := 1<<16 + 6*(len(f.Title)+len(f.Icon)+len(f.Pending))
	add := func(l vt.Line) {
		n += roughLine
		for s := range l.Spans() {
			n += roughRun + roughByte*len(s.Text) + 2*s.Cells + roughLink*(len(s.Style.Link.URI)+len(s.Style.Link.ID))
		}
	}
	for l := range lastLines(f.History, scrollback).All() {
		add(l)
	}
	for _, l := range f.Main.Lines {
		add(l)
	}
	if f.Alt != nil {
		for _, l := range f.Alt.Lines {
			add(l)
		}
	}
	return n
}

// lightened is f with other lines on its screens, and without history; f itself when
// lighter is nil.
func lightened(f *vt.Frame, lighter func(vt.Line) vt.Line) *vt.Frame {
	if lighter == nil {
		return f
	}
	g := *f
	g.History = vt.Lines{}
	lines := func(old []vt.Line) []vt.Line {
		out := make([]vt.Line, len(old))
		for i, l := range old {
			out[i] = lighter(l)
		}
		return out
	}
	g.Main.Lines = lines(f.Main.Lines)
	if f.Alt != nil {
		alt := *f.Alt
		alt.Lines = lines(alt.Lines)
		g.Alt = &alt
	}
	return &g
}

// unlinked is l without links.
func unlinked(l vt.Line) vt.Line {
	var p vt.Packer
	for s := range l.Spans() {
		style := s.Style
		style.Link = vt.Link{}
		repack(&p, s, style)
	}
	return p.Line(l.Wrapped())
}
