package vt10x

import (
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

var _ vt.New = New

// engine implements vt.Engine; see the package comment.
type engine struct {
	cfg     vt.Config
	decoder vt.Decoder
	parser  parser
	text    text
	seq     []byte // the open sequence, without what has no part in it
	void    bool   // it is too long: nobody gets to see it
	inCut   bool   // the open ESC ends a string that was cut
	end     int    // index behind the character at hand

	looks  *looks
	main   *screen
	alt    *screen // nil until it is first needed
	cur    *screen // main or alt
	hist   history
	packer vt.Packer

	modes       vt.Modes
	pen         pen
	charsets    vt.Charsets
	charset     byte // the set in force; after DECRC not always one of charsets
	last        rune // what REP repeats
	cursorStyle vt.CursorStyle
	names       names
	colors      colors
}

// New makes an engine with the library behind it.
func New(c vt.Config) vt.Engine {
	c = c.Clamped()
	e := &engine{cfg: c, looks: newLooks(), main: newScreen(c.Cols, c.Rows), modes: vt.DefaultModes()}
	e.hist.limit = c.Scrollback
	e.cur = e.main
	e.resetCharsets()
	return e
}

// Write implements vt.Engine.
func (e *engine) Write(p []byte) []byte {
	in := e.decoder.Decode(p)
	e.text.open(in, e.parser.state != ground && !e.void)
	for i := 0; i < len(in); {
		if s := e.parser.state; s == ground || s == stringOSC || s == stringDCS {
			if n := printable(in[i:]); n > 0 {
				if e.end = i + n; s == ground {
					e.print(in[i:e.end])
				} else {
					e.collect(in[i:e.end], i)
				}
				i += n
				continue
			}
		}
		c, size := rune(in[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(in[i:])
		}
		e.end = i + size
		e.step(c, i)
		i = e.end
		if len(e.cur.in) >= flushAt {
			e.cur.flush()
		}
	}
	return e.text.close()
}

// bom is no character anywhere: xterm.js drops it before it parses.
const bom = '\ufeff'

// special marks the bytes at which a run of characters may end: controls, and
// the first bytes of a C1 control and of bom.
var special = func() (t [256]bool) {
	for c := range ' ' {
		t[c] = true
	}
	t[0x7f], t[0xc2], t[0xef] = true, true, true
	return t
}()

// printable is the length of the run of characters at the beginning of t that
// are no controls.
func printable(t []byte) int {
	for i, c := range t {
		if !special[c] {
			continue
		}
		switch {
		case c == 0xc2 && t[i+1] >= 0xa0:
		case c == 0xef && (t[i+1] != 0xbb || t[i+2] != 0xbf):
		default:
			return i
		}
	}
	return len(t)
}

// step handles a control, or a character of a sequence, at index i.
func (e *engine) step(c rune, i int) {
	act := ignore
	if c != bom {
		act = e.parser.next(c)
	}
	switch act {
	case ignore:
		e.collect(nil, i)
	case collect:
		e.collect(e.text.in[i:e.end], i)
	case begin:
		e.begin(c, i)
	case execute:
		if e.parser.state != ground {
			e.text.inner = append(e.text.inner, byte(c))
		} else {
			e.finish(e.end)
		}
		e.last = 0
		e.control(c, i)
	case stringEnd:
		e.endString(c, i)
	case escDone:
		e.last = 0
		e.escape(e.parser.id(c))
		e.finish(i)
	case csiDone:
		e.csi(e.parser.id(c))
		e.last = 0
		e.finish(i)
	case abort:
		e.finish(i)
	}
}

// begin opens a sequence with its first character. When that also ends what was
// open before, viewers need it even if the sequence is cut.
func (e *engine) begin(c rune, i int) {
	open := len(e.seq) > 0
	e.finish(e.end)
	e.text.sequence(i)
	if open {
		e.text.deliver(e.end)
	}
	e.seq = utf8.AppendRune(e.seq, c)
}

// collect adds to the open sequence what belongs to it of in[i:end]. One that
// grows too long becomes void: viewers drop what they have of it and get no more.
func (e *engine) collect(part []byte, i int) {
	switch {
	case e.void:
		e.text.drop(i, e.end)
	case len(e.seq)+len(part) > vt.MaxString:
		e.cut()
		e.void, e.seq = true, e.seq[:0]
	default:
		e.seq = append(e.seq, part...)
	}
}

// endString applies a string that c terminates. An ESC does it at once and begins
// the next sequence, usually ESC \, which is cut when the string was.
func (e *engine) endString(c rune, i int) {
	next := e.end
	if c == 0x1b {
		e.end = i
	}
	cut := e.void || e.str()
	e.last = 0
	if e.end = next; c != 0x1b {
		e.finish(i)
		return
	}
	if cut {
		e.seq = e.seq[:0]
	}
	e.begin(c, i)
	e.inCut = cut
}

// finish forgets the sequence that ended. The rest of a void one, from index i,
// is no text.
func (e *engine) finish(i int) {
	if e.void && i < e.end {
		e.text.drop(i, e.end)
	}
	e.seq, e.void, e.inCut = e.seq[:0], false, false
}

// cut takes the open sequence out of the viewers' text.
func (e *engine) cut() { e.text.replace(e.end) }
