package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// reapplied freezes an engine that was written to with a snapshot of f.
func reapplied(f *vt.Frame, o Options) *vt.Frame {
	e := vt.NewEngine(vt.Config{Cols: f.Cols, Rows: f.Rows, Scrollback: vt.DefaultScrollback, Unicode: f.Unicode})
	e.Write(ANSI(f, o))
	return e.Freeze()
}

// TestVerifyExactSnapshots: no exemption is missing for what an engine freezes,
// at every byte of streams that reach the states with exemptions.
func TestVerifyExactSnapshots(t *testing.T) {
	for _, in := range []string{
		"one\r\n\x1b[1;31mtwo\x1b[m\r\n" + strings.Repeat("line of text that wraps\r\n", 12) + "end",
		"\x1b[44m\x1b[2J\x1b[Kx\x1b[4;38;5;9m under\x1b[58:2::1:2:3m\x1b[9mall" +
			"\x1b]8;id=a;https://example.org\x1b\\link\x1b]8;;\x1b\\ \x1b[3X",
		"main\x1b[?1049h\x1b[2;4r\x1b[?6h\x1b[3;2Halt\x1b7\x1b[?25l\x1b[?1000;1006;2004h\x1b=\x1b[4h\x1b[5 q",
		"1234567890123456789\x1b[3g\x1b[1;1H\x1bH\x1b[1;5H\x1bH\x1b[1;20H|\x1b[2K",
		"\x1b]0;title\a\x1b]1;icon\a\x1b]7;file://h/a%20b\a\x1b]4;1;#102030\a\x1b]11;#010203\a\x1b(0qqq\x1b)A\x0e" +
			"\x1b]2;half",
		"\x1b[?7l\x1b[?5h\x1b[20h\x1b[1\"qkept\x1b[0\"q\x1b[1;20Hx\x1b[3;4H\x1b7\x1b[1;1Hy",
	} {
		for _, o := range []Options{{Scrollback: -1}, {}, {Scrollback: 3}, {Scrollback: -1, Ended: true}} {
			e := vt.NewEngine(vt.Config{Cols: 20, Rows: 5, Scrollback: vt.DefaultScrollback})
			for at := range len(in) {
				e.Write([]byte(in[at : at+1]))
				f := e.Freeze()
				for _, d := range Differences(Normalize(f, o), reapplied(f, o)) {
					t.Errorf("%+v after %q: %s", o, in[:at+1], d)
				}
			}
		}
	}
}

// TestVerifyAcceptsItself: a frame does not differ from itself, whatever it is.
func TestVerifyAcceptsItself(t *testing.T) {
	r := newFrames(4)
	for range 500 {
		f := r.frame()
		f.LastChar = 0
		f.Modes.Origin = false
		if d := Differences(f, f); d != nil {
			t.Fatalf("%q", d)
		}
	}
}

// verified is a frame with something of everything.
func verified() *vt.Frame {
	line := func(text string, s vt.Style, wrapped bool) vt.Line {
		var p vt.Packer
		p.ASCII([]byte(text), s)
		p.Char('漢', 2, s)
		p.Cluster("e\u0301", 1, s)
		return p.Line(wrapped)
	}
	screen := func(name string) vt.Screen {
		return vt.Screen{Lines: []vt.Line{line(name+"0", vt.Style{}, false),
			line(name+"1", vt.Style{FG: vt.PaletteColor(1)}, true), {}}, X: 3, Y: 1,
			Top: 0, Bottom: 1, Kitty: []uint8{1}, Saved: vt.SavedCursor{Set: true, X: 2}}
	}
	alt := screen("a")
	return &vt.Frame{Cols: 10, Rows: 3, Unicode: vt.Unicode11, Modes: vt.DefaultModes(), Main: screen("m"), Alt: &alt,
		History: vt.LinesOf(line("h0", vt.Style{}, false), line("h1", vt.Style{}, false)), Title: "title",
		Pending: []byte("\x1b[3")}
}

// text packs plain text and blanks of a style.
func text(s string, blanks int, style vt.Style) vt.Line {
	var p vt.Packer
	p.ASCII([]byte(s), vt.Style{})
	p.Blank(blanks, style)
	return p.Line(false)
}

// TestVerifyNames: each part that is not as wanted has a sentence that names it.
func TestVerifyNames(t *testing.T) {
	for want, change := range map[string]func(f *vt.Frame){
		`size: want 10x3, got 11x3`: func(f *vt.Frame) { f.Cols = 11 },
		`mode BracketedPaste: want false, got true`: func(f *vt.Frame) {
			f.Modes.BracketedPaste = true
		},
		`mode Mouse: want none, got any`: func(f *vt.Frame) {
			f.Modes.Mouse = vt.MouseAny
		},
		`mode Kitty: want 0, got 5`: func(f *vt.Frame) { f.Modes.Kitty = 5 },
		`history: want 2 lines, got 1`: func(f *vt.Frame) {
			f.History = f.History.Last(1)
		},
		`history line 1: want wrapped false, got true`: func(f *vt.Frame) {
			setHistory(f, 1, f.Main.Lines[1])
		},
		`history line 0: 5 cells differ, first column 0: `: func(f *vt.Frame) {
			setHistory(f, 0, vt.Line{})
		},
		`main row 2: 2 cells differ, first column 0: want "" (1 wide), got "x"`: func(f *vt.Frame) {
			f.Main.Lines[2] = text("xy", 0, vt.Style{})
		},
		`row 2: 2 cells differ, first column 0, "": want {FG:0 BG:0`: func(f *vt.Frame) {
			f.Alt.Lines[2] = text("", 2, vt.Style{BG: 1<<24 + 1})
		},
		`row 1: 4 cells differ, first column 0, "a": want {FG:16777217`: func(f *vt.Frame) {
			f.Alt.Lines[1] = restyled(f.Alt.Lines[1])
		},
		`alternate screen: want shown true, got false`:          func(f *vt.Frame) { f.Alt = nil },
		`cursor: want column 3 of row 1, got column 4 of row 1`: func(f *vt.Frame) { f.Alt.X = 4 },
		`pending wrap: want false, got true`: func(f *vt.Frame) {
			f.Alt.X, f.Alt.PendingWrap = 9, true
		},
		`cursor style: want 0, got 3`:                 func(f *vt.Frame) { f.CursorStyle = 3 },
		`main screen: margins: want [0 1], got [0 2]`: func(f *vt.Frame) { f.Main.Bottom = 2 },
		`margins: want [0 1], got [1 2]`:              func(f *vt.Frame) { f.Alt.Top, f.Alt.Bottom = 1, 2 },
		`tab stops: want [8], got [4]`:                func(f *vt.Frame) { f.Alt.Tabs = []int{4} },
		`main screen: tab stops: want [8], got []`:    func(f *vt.Frame) { f.Main.Tabs = []int{} },
		`keyboard stack: want [1], got []`:            func(f *vt.Frame) { f.Alt.Kitty = nil },
		`saved cursor: want {Set:true X:2 `:           func(f *vt.Frame) { f.Alt.Saved.X = 1 },
		`main screen: saved cursor: want {Set:true X:2 `: func(f *vt.Frame) {
			f.Main.Saved = vt.SavedCursor{}
		},
		`pen: want {FG:0 `: func(f *vt.Frame) { f.Pen.Attr = vt.Bold },
		`character sets: want {G:[0 0 0 0] GL:0}, got {G:[0 0 0 0] GL:1}`: func(f *vt.Frame) { f.Charsets.GL = 1 },
		`character that REP repeats: want '\x00', got 'x'`:                func(f *vt.Frame) { f.LastChar = 'x' },
		`unfinished sequence: want "\x1b[3", got ""`:                      func(f *vt.Frame) { f.Pending = nil },
		`width table: want 11, got 15-graphemes`: func(f *vt.Frame) {
			f.Unicode = vt.Unicode15Graphemes
		},
		`title: want "title", got "other"`:        func(f *vt.Frame) { f.Title = "other" },
		`icon name: want "", got "i"`:             func(f *vt.Frame) { f.Icon = "i" },
		`host of the directory: want "", got "h"`: func(f *vt.Frame) { f.CwdHost = "h" },
		`directory: want "", got "/"`:             func(f *vt.Frame) { f.Cwd = "/" },
		`foreground: want 0, got `:                func(f *vt.Frame) { f.Foreground = vt.RGBColor(0, 0, 1) },
		`background: want 0, got `:                func(f *vt.Frame) { f.Background = vt.RGBColor(0, 0, 1) },
		`cursor colour: want 0, got `:             func(f *vt.Frame) { f.CursorColor = vt.RGBColor(0, 0, 1) },
		`palette: want map[], got map[7:`: func(f *vt.Frame) {
			f.Palette = map[uint8]vt.Color{7: vt.RGBColor(0, 0,
				1)}
		},
	} {
		got := verified()
		change(got)
		list := Differences(verified(), got)
		found := false
		for _, d := range list {
			found = found || strings.HasPrefix(d, want)
		}
		if !found || len(list) > 2 {
			t.Errorf("want %s\n got %s", want, strings.Join(list, "\n     "))
		}
	}
}

// restyled is l in green.
func restyled(l vt.Line) vt.Line {
	var p vt.Packer
	for s := range l.Spans() {
		s.Style = vt.Style{FG: vt.PaletteColor(2)}
		repack(&p, s)
	}
	return p.Line(l.Wrapped())
}

// TestVerifyExempts: what ANSI cannot carry is no difference, and hides none.
func TestVerifyExempts(t *testing.T) {
	under := vt.Style{Underline: vt.UnderlineSingle}
	for name, c := range map[string]struct {
		want, got func(f *vt.Frame)
		sentences int
	}{
		"erased cells keep the background": {row("a", 3, vt.Style{Attr: vt.Bold, FG: vt.PaletteColor(2)}),
			row("a", 0, vt.Style{}), 0},
		"and nothing less": {row("a", 3, vt.Style{BG: vt.PaletteColor(2)}), row("a", 0, vt.Style{}), 1},
		"a blank that shows is no space": {row("", 1, under), func(f *vt.Frame) { f.Alt.Lines[2] = styled(" ", under) },
			1},
		"it keeps all of its style": {row("", 1, vt.Style{Attr: vt.Inverse | vt.Bold}),
			row("", 1, vt.Style{Attr: vt.Inverse}), 1},
		"as one that selective erasure spares": {row("", 1, vt.Style{Attr: vt.Protected}), row("", 1, vt.Style{}), 1},
		"another is none":                      {row("", 1, vt.Style{}), row(" ", 0, vt.Style{}), 1},
		"a space is not erased":                {row(" ", 0, vt.Style{}), row("", 1, vt.Style{}), 1},
		"the first line's wrap":                {wrapped(0), nil, 0},
		"the second line's wrap":               {wrapped(2), nil, 1},
		"a link without URI": {row("", 2, vt.Style{Link: vt.Link{ID: "x"}}), row("", 0, vt.Style{}),
			0},
		"a cell that does not fit": {row("123456789", 0, vt.Style{}), func(f *vt.Frame) {
			f.Alt.Lines[2] = wide("123456789")
		}, 0},
		"columns beyond the screen": {row("1234567890", 0, vt.Style{}), row("1234567890xyz", 0, vt.Style{}), 0},
		"every eight":               {func(f *vt.Frame) { f.Alt.Tabs = []int{0, 8} }, nil, 0},
		"column 0": {func(f *vt.Frame) { f.Alt.Tabs = []int{0, 4} }, func(f *vt.Frame) {
			f.Alt.Tabs = []int{4}
		}, 0},
		"a saved cursor as after RIS": {func(f *vt.Frame) { f.Alt.Saved.X = 0 }, func(f *vt.Frame) {
			f.Alt.Saved = vt.SavedCursor{}
		}, 0},
		"but not the other way": {func(f *vt.Frame) { f.Alt.Saved = vt.SavedCursor{} }, func(f *vt.Frame) {
			f.Alt.Saved.X = 0
		}, 1},
		"a saved pending wrap": {func(f *vt.Frame) { f.Alt.Saved.PendingWrap = true }, nil, 0},
		"the main screen's cursor": {func(f *vt.Frame) { f.Main.X, f.Main.Y = 9, 2; f.Main.PendingWrap = true },
			nil, 0},
		"what REP repeats and cannot": {func(f *vt.Frame) { f.LastChar = 'q' }, nil, 0},
		"a wrap pending behind a blank": {pending, func(f *vt.Frame) {
			pending(f)
			f.Alt.Lines[1] = styled("         ", vt.Style{})
		}, 9},
		"the blank itself, all erased": {pending, func(f *vt.Frame) { pending(f); f.Alt.Lines[1] = spaceAt9("") }, 1},
		"the blank itself": {func(f *vt.Frame) { pending(f); f.Alt.Lines[1] = text("x", 0, vt.Style{}) },
			func(f *vt.Frame) {
				pending(f)
				f.Alt.Lines[1] = spaceAt9("x")
			}, 0},
		"a cursor above the margins": {origin(0), origin(1), 0},
		"and one inside them":        {origin(1), origin(2), 1},
		"a palette of nothing":       {func(f *vt.Frame) { f.Palette = map[uint8]vt.Color{} }, nil, 0},
		"what is not unfinished":     {func(f *vt.Frame) { f.Pending = []byte("x\x1b[3") }, nil, 0},
		"a wrap in one column":       {func(f *vt.Frame) { narrow(f); f.Alt.Lines[1] = vt.Line{} }, narrow, 0},
		"but the second column has a wrap": {func(f *vt.Frame) { narrow(f); f.Cols = 2 }, func(f *vt.Frame) {
			narrow(f)
			f.Cols = 2
			f.Alt.Lines[1] = vt.Line{}
		}, 1},
		"a wrap of a history without its head": {func(f *vt.Frame) { setHistory(f, 0, restyled(f.Main.Lines[1])) },
			func(f *vt.Frame) {
				setHistory(f, 0, unwrapped(restyled(f.Main.Lines[1])))
			}, 0},
	} {
		want, got := verified(), verified()
		for _, f := range []*vt.Frame{want, got} {
			change := c.want
			if f == got {
				change = c.got
			}
			if change != nil {
				change(f)
			}
		}
		list := Differences(want, got)
		if n := len(list); n != min(c.sentences, 1) {
			t.Errorf("%s: %q", name, list)
		} else if c.sentences > 1 && !strings.Contains(list[0], fmt.Sprintf("%d cells", c.sentences)) {
			t.Errorf("%s: %q, want %d cells", name, list, c.sentences)
		}
	}
}

func row(s string, blanks int, style vt.Style) func(f *vt.Frame) {
	return func(f *vt.Frame) { f.Alt.Lines[2] = text(s, blanks, style) }
}

func styled(s string, style vt.Style) vt.Line {
	var p vt.Packer
	p.ASCII([]byte(s), style)
	return p.Line(false)
}

func wide(s string) vt.Line {
	var p vt.Packer
	p.ASCII([]byte(s), vt.Style{})
	p.Char('漢', 2, vt.Style{})
	return p.Line(false)
}

func wrapped(line int) func(f *vt.Frame) {
	return func(f *vt.Frame) {
		var p vt.Packer
		for s := range f.Alt.Lines[line].Spans() {
			repack(&p, s)
		}
		f.Alt.Lines[line] = p.Line(true)
	}
}

func unwrapped(l vt.Line) vt.Line {
	var p vt.Packer
	for s := range l.Spans() {
		repack(&p, s)
	}
	return p.Line(false)
}

// pending is a wrap that waits behind an erased row.
func pending(f *vt.Frame) { f.Alt.X, f.Alt.PendingWrap, f.Alt.Lines[1] = 9, true, vt.Line{} }

func spaceAt9(text string) vt.Line {
	var p vt.Packer
	p.ASCII([]byte(text), vt.Style{})
	p.Blank(9-len(text), vt.Style{})
	p.ASCII([]byte(" "), vt.Style{})
	return p.Line(false)
}

func origin(y int) func(f *vt.Frame) {
	return func(f *vt.Frame) { f.Modes.Origin, f.Alt.Top, f.Alt.Bottom, f.Alt.Y = true, 1, 2, y }
}

// narrow leaves one column with a wrapped row.
func narrow(f *vt.Frame) {
	f.Cols, f.History, f.Main.Lines = 1, vt.Lines{}, make([]vt.Line, 3)
	var p vt.Packer
	f.Alt.Lines = []vt.Line{{}, p.Line(true), {}}
}

// setHistory replaces line i of the history.
func setHistory(f *vt.Frame, i int, l vt.Line) {
	lines := f.History.Slice()
	lines[i] = l
	f.History = vt.LinesOf(lines...)
}

// TestVerifyIsBounded: a screen that is wrong everywhere does not fill the log.
func TestVerifyIsBounded(t *testing.T) {
	want, got := verified(), verified()
	want.History = vt.LinesOf(slices.Repeat([]vt.Line{text("x", 0, vt.Style{})}, 100)...)
	got.History = vt.LinesOf(slices.Repeat([]vt.Line{text("y", 0, vt.Style{})}, 100)...)
	list := Differences(want, got)
	if len(list) != maxDifferences {
		t.Errorf("%d sentences", len(list))
	}
	got = verified()
	got.Title = strings.Repeat("é", 5000)
	got.Pen.Link.URI = strings.Repeat("漢", 10_000)
	list = Differences(verified(), got)
	if len(list) != 2 {
		t.Errorf("%d sentences", len(list))
	}
	for _, s := range list {
		if len(s) > maxSentence || !utf8.ValidString(s) || len(s) < 100 {
			t.Errorf("%d bytes: %s", len(s), s)
		}
	}
}
