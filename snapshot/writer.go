package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"

	"github.com/evertty/evertty/vt"
)

// MaxSize is the largest encoded snapshot that a server sends, in bytes: more than viewers can
// use, and little enough that a few of them do not exhaust a server.
const MaxSize = 64 << 20

// spillAt is the size of an encoder's buffer in bytes.
const spillAt = 32 << 10

// An Encoder writes f to w with the last scrollback lines of its history, all when negative.
// It buffers about 32 KiB and returns the error of w.
type Encoder func(w io.Writer, f *vt.Frame, scrollback int) error

// Write writes the text of ANSI with the options o to w. It buffers about 32 KiB and returns
// the error of w.
func (o Options) Write(w io.Writer, f *vt.Frame) error {
	p := painter{linePainter{ansiWriter: ansiWriter{spills: w, out: make([]byte, 0, spillAt+spillAt/4)}}}
	p.frame(o, f)
	p.spill(0)
	return p.failed
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

// WriteText is the Encoder of Text.
func WriteText(w io.Writer, f *vt.Frame, scrollback int) error {
	f = normalize(f)
	s := &sink{w: w}
	for l := range shownLines(f, scrollback) {
		if s.plainLine(l); s.err != nil {
			break
		}
	}
	return s.flush()
}

// shownLines yields the last scrollback lines of the history and the screen that is shown.
func shownLines(f *vt.Frame, scrollback int) iter.Seq[vt.Line] {
	return func(yield func(vt.Line) bool) {
		for l := range lastLines(f.History, scrollback).All() {
			if !yield(l) {
				return
			}
		}
		for _, l := range f.Active().Lines {
			if !yield(l) {
				return
			}
		}
	}
}

func (s *sink) plainLine(l vt.Line) {
	s.buf = append(appendPlain(s.buf, l), '\n')
	s.WriteString("")
}

// WriteHTML is the Encoder of HTML.
func WriteHTML(w io.Writer, f *vt.Frame, scrollback int) error {
	f = normalize(f)
	h := htmlWriter{frame: f, out: &sink{w: w}}
	h.begin()
	for l := range shownLines(f, scrollback) {
		if h.line(l); h.out.err != nil {
			return h.out.err
		}
	}
	h.out.WriteString("</pre>\n")
	return h.out.flush()
}

// WriteJSON writes the value of JSON to w without its seq, and appends rest, for example
// `,"seq":1`, behind its last member. It buffers about 32 KiB and returns the error of w.
func WriteJSON(w io.Writer, f *vt.Frame, scrollback int, rest string) error {
	f = normalize(f)
	head := screenHead(f)
	b, err := marshal(head)
	if err != nil {
		return err
	}
	s := &sink{w: w}
	const empty = `"lines":null,"scrollback":null,"seq":0}` // how head ends
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

// row writes one line as a wire.Line.
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

// Reduce returns a frame and a number of history lines whose encoding has at most limit bytes.
// It first drops history. If the screen alone is too large, it drops links, then styles and
// combining marks. It finds the size by encoding, so it takes several times as long as encode.
// Errors: as encode.
func Reduce(f *vt.Frame, scrollback, limit int, encode Encoder) (*vt.Frame, int, error) {
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

// fittingSteps is the number of bisections of fittingLines.
const fittingSteps = 3

// fittingLines returns the number of history lines that fit, within an eighth of the maximum.
// Errors: errTooLarge when the screen alone does not fit.
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

// Bytes that roughly counts for a line, for a run of one style and for a byte of escaped text.
// A link is written up to twice and escaped.
const (
	roughLine, roughRun, roughByte, roughLink = 160, 480, 6, 12
)

// roughly returns an upper bound of the encoded size in any format, in bytes.
func roughly(f *vt.Frame, scrollback int) int {
	n := 1<<16 + 6*(len(f.Title)+len(f.Icon)+len(f.Pending))
	lines := append(lastLines(f.History, scrollback).Slice(), f.Main.Lines...)
	if f.Alt != nil {
		lines = append(lines, f.Alt.Lines...)
	}
	for _, l := range lines {
		n += roughLine
		for s := range l.Spans() {
			n += roughRun + roughByte*len(s.Text) + 2*s.Cells + roughLink*(len(s.Style.Link.URI)+len(s.Style.Link.ID))
		}
	}
	return n
}

// lightened returns f without history and with each line replaced by lighter, or f itself when
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

// unlinked returns l without links.
func unlinked(l vt.Line) vt.Line {
	return remade(l, func(s *vt.Span) { s.Style.Link = vt.Link{} })
}
