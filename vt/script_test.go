package vt_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// subject is an engine and what left it.
type subject struct {
	vt.Engine
	log     []string // effects since the last look, in order
	replies []byte
	text    []byte // for viewers
	title   string // the last that was told
	cwd     string
}

// fresh makes the engine of a script in a given size.
func (s *script) fresh(cols, rows int) *subject {
	sub := &subject{}
	add := func(format string, args ...any) { sub.log = append(sub.log, fmt.Sprintf(format, args...)) }
	cfg := s.cfg
	cfg.Cols, cfg.Rows = cols, rows
	cfg.Effects = &vt.Effects{
		Reply:     func(p []byte) { sub.replies = append(sub.replies, p...) },
		Bell:      func() { add("bell") },
		Title:     func(t string) { sub.title = t },
		Cwd:       func(_, p string) { sub.cwd = p },
		Clipboard: func(sel string, data []byte) { add("clipboard %s %s", quote(sel), quote(string(data))) },
		Notify:    func(n vt.Notification) { add("notify %s %s", quote(n.Title), quote(n.Body)) },
		Prompt: func(m vt.PromptMark) {
			if m.Exit >= 0 {
				add("prompt %c %d", m.Kind, m.Exit)
			} else {
				add("prompt %c", m.Kind)
			}
		},
	}
	sub.Engine = vt.NewEngine(cfg)
	return sub
}

// feed writes in pieces of n bytes, whole when n is 0.
func (s *subject) feed(in string, n int) {
	for in != "" {
		k := len(in)
		if n > 0 {
			k = min(k, n)
		}
		s.text = append(s.text, s.Write([]byte(in[:k]))...)
		in = in[k:]
	}
}

// effects takes what left the engine since the last call, in the words of a block.
func (s *subject) effects() []string {
	out := s.log
	if len(s.replies) > 0 {
		out = append(out, "reply "+quote(string(s.replies)))
	}
	s.log, s.replies = nil, nil
	return out
}

// TestScripts runs every script whole and byte by byte, each time with a viewer
// that gets the engine's text and nothing else, and then goes on from a snapshot
// taken at every byte: painted by snapshot.ANSI, and through a snapshot file.
func TestScripts(t *testing.T) {
	for _, s := range loadScripts(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t, 0)
			s.run(t, 1)
			if !t.Failed() && !s.uncut {
				s.cutEverywhere(t)
			}
		})
	}
}

// run compares every block of the script, writing pieces of n bytes.
func (s *script) run(t *testing.T, n int) {
	t.Helper()
	e, viewer := s.fresh(s.cfg.Cols, s.cfg.Rows), s.fresh(s.cfg.Cols, s.cfg.Rows)
	in, text := "", ""
	for _, o := range s.ops {
		e.feed(o.in, n)
		in, text = in+o.in, text+string(e.text)
		s.show(t, viewer, e)
		if o.cols > 0 {
			e.Resize(o.cols, o.rows)
			viewer.Resize(o.cols, o.rows)
			s.show(t, viewer, e)
		}
		if o.want == nil {
			continue
		}
		f := e.Freeze()
		if e.title != f.Title || e.cwd != f.Cwd {
			t.Errorf("in pieces of %d: the effects say title %q and directory %q, not %q and %q", n, e.title, e.cwd,
				f.Title, f.Cwd)
		}
		got, want := append(describe(f), e.effects()...), o.want
		if n != 0 { // the text depends on how much viewers had before
			want = slices.DeleteFunc(slices.Clone(want), func(l string) bool { return strings.HasPrefix(l, "text ") })
		} else if text != valid(in[:len(in)-e.Held()]) {
			got = append(got, "text "+quote(text))
		}
		in, text = in[len(in)-e.Held():], ""
		if d := difference(got, want); d != "" {
			t.Errorf("in pieces of %d:\n%s", n, d)
		}
	}
}

// valid is s with U+FFFD for every byte that is not UTF-8.
func valid(s string) string { return string([]rune(s)) }

// show gives a viewer the text of e since the last time and checks that it sees
// the same.
func (s *script) show(t *testing.T, viewer, e *subject) {
	t.Helper()
	viewer.feed(string(e.text), 0)
	e.text = nil
	if len(viewer.replies) > 0 {
		t.Errorf("a viewer answers %s", quote(string(viewer.replies)))
	}
	viewer.effects()
	f := e.Freeze()
	if vt.Withheld(f.Pending) {
		f.Pending = nil
	}
	for _, on := range f.Modes.QueryOnly() {
		*on = false
	}
	g := viewer.Freeze()
	f.Cwd = g.Cwd // effects.Cwd tells it, not all of the sequences do
	if d := difference(describe(g), describe(f)); d != "" {
		t.Errorf("a viewer of the text sees something else:\n%s", d)
	}
}

// maxCuts bounds the places where one script is cut; long ones are cut evenly.
const maxCuts = 400

// cutEverywhere takes a snapshot at every byte of the input, goes on from it in
// a new terminal, and compares both at the cut and at the end.
func (s *script) cutEverywhere(t *testing.T) {
	t.Helper()
	whole := s.fresh(s.cfg.Cols, s.cfg.Rows)
	total := 0
	for _, o := range s.ops {
		whole.play(o)
		total += len(o.in)
	}
	every := total/maxCuts + 1
	e, fed := s.fresh(s.cfg.Cols, s.cfg.Rows), ""
	for i, o := range s.ops {
		if o.want != nil {
			continue // a look changes nothing
		}
		for at := 0; at == 0 || at < len(o.in); at += every {
			rest := slices.Clone(s.ops[i:])
			rest[0].in = fed[len(fed)-e.Held():] + o.in[at:]
			if !s.cut(t, e, rest, whole) {
				t.Errorf("cut in input %d behind %s", i, quote(o.in[max(0, at-60):at]))
				return
			}
			next := o.in[at:min(at+every, len(o.in))]
			e.feed(next, 0)
			fed += next
		}
		o.in = ""
		e.play(o)
	}
	if e.Held() == 0 && !s.cut(t, e, nil, whole) {
		t.Error("cut at the end")
	}
}

// play does what o says.
func (s *subject) play(o op) {
	s.feed(o.in, 0)
	if o.cols > 0 {
		s.Resize(o.cols, o.rows)
	}
}

// cut goes on with rest from a snapshot of e; whole is the terminal that was
// never cut.
func (s *script) cut(t *testing.T, e *subject, rest []op, whole *subject) bool {
	t.Helper()
	f := e.Freeze()
	ansi := snapshot.ANSI(f, snapshot.Options{Scrollback: -1, Engine: true})
	_, decoded, err := snapshot.Decode(snapshot.Encode(snapshot.Header{}, f))
	if err != nil {
		t.Errorf("the file cannot be read again: %v", err)
		return false
	}
	if !equal(stored(decoded), stored(f)) {
		t.Errorf("in the file: %+v, not %+v\n%s", decoded, f, difference(describe(decoded), describe(f)))
	}
	if again := snapshot.ANSI(decoded, snapshot.Options{Scrollback: -1, Engine: true}); !bytes.Equal(again, ansi) {
		t.Errorf("the file paints %s, not %s", quote(string(again)), quote(string(ansi)))
	}
	c := s.fresh(f.Cols, f.Rows)
	c.feed(string(ansi), 0)
	c.Resume(decoded) // as a server that goes on from the file
	if got := c.effects(); got != nil {
		t.Errorf("the snapshot has effects: %q", got)
	}
	if d := difference(describe(carried(c.Freeze())), describe(carried(f))); d != "" {
		t.Errorf("at the cut:\n%s\nsnapshot %s", d, quote(string(ansi)))
	}
	for _, o := range rest {
		c.play(o)
	}
	if d := difference(describe(carried(c.Freeze())), describe(carried(whole.Freeze()))); d != "" {
		t.Errorf("at the end:\n%s\nsnapshot %s", d, quote(string(ansi)))
	}
	log, replies := append(slices.Clone(e.log), c.log...), string(e.replies)+string(c.replies)
	if !slices.Equal(log, whole.log) || replies != string(whole.replies) {
		t.Errorf("effects %q and replies %q, not %q and %q", log, replies, whole.log, whole.replies)
	}
	return !t.Failed()
}

// stored is f in the one form that a file has of it: ASCII is set 0, not 'B', a
// palette without changes is nil, and of a hidden screen it has what counts.
func stored(f *vt.Frame) *vt.Frame {
	g := *f
	ascii := func(c *vt.Charsets) {
		for i, final := range c.G {
			if final == 'B' {
				c.G[i] = 0
			}
		}
	}
	ascii(&g.Charsets)
	ascii(&g.Main.Saved.Charsets)
	if g.Alt != nil {
		alt := *g.Alt
		ascii(&alt.Saved.Charsets)
		g.Alt = &alt
	}
	if h := g.Hidden; h != nil {
		g.Hidden = &vt.Screen{Saved: h.Saved, Kitty: h.Kitty}
		ascii(&g.Hidden.Saved.Charsets)
	}
	if len(g.Palette) == 0 {
		g.Palette = nil
	}
	return &g
}

// carried is f without the one part that no snapshot can carry and nobody can
// see: the wrap flag of the very first line, as there is no line it continues.
func carried(f *vt.Frame) *vt.Frame {
	g := *f
	if lines := g.History.Slice(); len(lines) > 0 {
		lines[0] = unwrapped(lines[0], g.Cols)
		g.History = vt.LinesOf(lines...)
	} else {
		g.Main.Lines = slices.Clone(g.Main.Lines)
		g.Main.Lines[0] = unwrapped(g.Main.Lines[0], g.Cols)
	}
	if g.Alt != nil {
		alt := *g.Alt
		alt.Lines = slices.Clone(alt.Lines)
		alt.Lines[0] = unwrapped(alt.Lines[0], g.Cols)
		g.Alt = &alt
	}
	return &g
}

func unwrapped(l vt.Line, cols int) vt.Line {
	out, err := vt.ParseLine(l.Packed(), false, cols)
	if err != nil {
		return l
	}
	return out
}

// difference lists the lines that only one side has; "" when both are equal.
func difference(got, want []string) string {
	if slices.Equal(got, want) {
		return ""
	}
	var b strings.Builder
	for _, l := range want {
		if !slices.Contains(got, l) {
			fmt.Fprintf(&b, "  want %s\n", l)
		}
	}
	for _, l := range got {
		if !slices.Contains(want, l) {
			fmt.Fprintf(&b, "  got  %s\n", l)
		}
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "  order: got %q, want %q\n", got, want)
	}
	return b.String()
}

// TestSequencesDocument: docs/reference/sequences.md names every script by its number, and
// no script that does not exist.
func TestSequencesDocument(t *testing.T) {
	doc, err := os.ReadFile("../docs/reference/sequences.md")
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]string{}
	for _, s := range loadScripts(t) {
		number, _, _ := strings.Cut(s.name, "-")
		if old := numbers[number]; old != "" {
			t.Errorf("%s and %s have the same number", old, s.name)
		}
		numbers[number] = s.name
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, ""), "|")
		list := cells[max(0, len(cells)-2)] // the last column
		if _, after, ok := strings.Cut(line, ": "); ok && len(cells) == 1 {
			list = strings.TrimSuffix(strings.TrimSpace(after), ".")
		}
		for _, n := range strings.Fields(list) {
			if len(n) == 3 && strings.Trim(n, "0123456789") == "" {
				named[n] = true
				if numbers[n] == "" {
					t.Errorf("script %s does not exist: %s", n, line)
				}
			}
		}
	}
	for number, name := range numbers {
		if !named[number] {
			t.Errorf("script %s is not in docs/reference/sequences.md", name)
		}
	}
}
