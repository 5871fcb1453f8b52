package stream

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/vt"
)

// errCannotResume is wrapped by the reasons why a viewer that wants to go on from
// a position gets a snapshot instead.
var errCannotResume = errors.New("the output cannot be resumed")

// catchUp gives a viewer what it missed, out of the journal. An engine of its own
// makes the text of the bytes, the same way as the hub's made it for those who
// were there; its screen is of no interest. All of it belongs to the caller of
// Poll, except that close may come from elsewhere.
type catchUp struct {
	id      string
	journal *journal.Journal
	fresh   func(cols, rows int) vt.Engine
	since   uint64 // the viewer has everything up to here
	goal    uint64 // what the hub had written when the viewer came
	known   uint64 // changes of size before it are in the journal alone

	// before are the changes of size that the viewer has, as far as they are known, and
	// firstCols and firstRows the size before them. What viewers get of the output
	// depends on them (vt.Terminal).
	before               []resize
	firstCols, firstRows int

	cols, rows int    // what the viewer has
	next       int    // number of the first change of size it has not
	told       bool   // it got the resume event
	pos        uint64 // the viewer has what bytes up to here make

	engine    vt.Engine // nil until there is output to make text of
	left      []byte    // text of what a generation that ended on the way left of a character
	restarted bool      // a generation ended before there was an engine
	recent    []byte    // the last bytes before since, at most vt.MaxHeld
	rest      []byte    // of the last entry read, what follows pos

	mu     sync.Mutex // guards reader and closed; held while reading
	reader *journal.Reader
	closed bool
}

// release lets go of all that a viewer needs no more that has caught up.
func (c *catchUp) release() {
	c.close()
	c.engine, c.rest = nil, nil
}

// target is how far the hub is.
type target struct {
	seq     uint64
	resizes []resize // those that the viewer has not got
}

// newCatchUp is nil when the hub cannot continue what a viewer has up to since.
// The hub's lock is held.
func (h *Hub) newCatchUp(since uint64) *catchUp {
	if h.journal == nil || since > h.applied() || h.rewidthed && since <= h.firstView {
		return nil
	}
	cols, rows, next, ok := h.resizes.since(since)
	if !ok {
		return nil
	}
	before, _ := h.resizes.from(h.resizes.dropped)
	before = slices.Clone(before[:next-h.resizes.dropped])
	return &catchUp{
		before: before, firstCols: h.resizes.cols, firstRows: h.resizes.rows, id: h.id, journal: h.journal,
		fresh: h.fresh, since: since, goal: h.seq, known: h.resizes.known,
		cols: cols, rows: rows, next: next, pos: since,
	}
}

// close lets go of the journal. A pending advance ends with an error.
func (c *catchUp) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.reader != nil {
		_ = c.reader.Close() // read only: nothing is lost
		c.reader = nil
	}
}

// failed says why a viewer that cannot be continued gets a snapshot, "" when err
// is nil. Which of the journal's troubles it was is told to nobody: its owner
// knows them, and the viewer loses nothing.
func (c *catchUp) failed(err error) Reason {
	switch {
	case err == nil:
		return ""
	case c.told:
		return ReasonLag
	}
	return ReasonConnect
}

// advance returns the next events on the way to t, none when the viewer is there.
// It reads without the hub's lock. Errors wrap errCannotResume or are the journal's.
func (c *catchUp) advance(t target) ([]*Message, error) {
	if !c.told {
		return c.begin(t)
	}
	for {
		more, err := c.read(t.stop())
		if err != nil {
			return nil, err
		}
		if m := c.tail(); m != nil {
			return []*Message{m}, nil
		}
		switch {
		case more:
			m, err := c.output(t.stop())
			if m != nil || err != nil {
				return []*Message{m}, err
			}
		case len(t.resizes) > 0:
			return []*Message{c.resize(t.resizes[0])}, nil
		default:
			return nil, nil
		}
	}
}

// stop is where the viewer's next change of size is, or the end.
func (t target) stop() uint64 {
	if len(t.resizes) > 0 {
		return min(t.seq, t.resizes[0].at)
	}
	return t.seq
}

// begin says that the viewer can go on, once it is sure that it can.
func (c *catchUp) begin(t target) ([]*Message, error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	more, err := c.read(t.stop())
	if err == nil && more {
		err = c.ready()
	}
	if err != nil {
		return nil, err
	}
	c.told = true
	return []*Message{resumeMessage(c.id, c.cols, c.rows, c.since)}, nil
}

// open begins to read at the viewer's position.
func (c *catchUp) open() error {
	r, err := c.journal.Read(c.since)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = r.Close() // read only: nothing is lost
		return ErrClosed
	}
	c.reader = r
	return nil
}

// read sees to it that rest has the next output, and passes all that happened at
// pos without output. more is false at stop.
func (c *catchUp) read(stop uint64) (more bool, err error) {
	for len(c.rest) == 0 {
		e, err := c.entry()
		if errors.Is(err, io.EOF) && c.pos >= stop {
			return false, nil
		}
		if err == nil {
			err = c.take(e)
		}
		if err != nil {
			return false, err
		}
	}
	return c.pos < stop, nil
}

func (c *catchUp) entry() (journal.Entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return journal.Entry{}, ErrClosed
	}
	return c.reader.Next()
}

// take looks at an entry of the journal.
func (c *catchUp) take(e journal.Entry) error {
	switch {
	case e.Kind == journal.EntryGap || e.Damaged:
		return fmt.Errorf("%w: the journal is damaged or has a gap before %d", errCannotResume, e.Seq)
	case e.Kind == journal.EntryOutput:
		if begin := e.Seq - uint64(len(e.Data)); begin != c.pos {
			return fmt.Errorf("%w: the journal goes on at %d after %d", errCannotResume, begin, c.pos)
		}
		c.rest = e.Data
	case e.Kind == journal.EntryResize && e.Seq < c.known:
		return fmt.Errorf("%w: nobody knows whether viewers can repeat the change of size at %d", errCannotResume,
			e.Seq)
	case e.Kind == journal.EntryRestart:
		if e.Cols != c.cols || e.Rows != c.rows {
			return fmt.Errorf("%w: the size changed with the restart at %d", errCannotResume, e.Seq)
		}
		c.restarted = true
		c.flush()
	}
	return nil
}

// flush keeps the text of a character that the output so far left incomplete: its
// rest does not come any more.
func (c *catchUp) flush() {
	if c.engine != nil && c.engine.Held() > 0 {
		c.left = append(c.left, c.engine.Flush()...)
	}
}

// tail is the event with the text that flush kept, nil when there is none.
func (c *catchUp) tail() *Message {
	if len(c.left) == 0 {
		return nil
	}
	m := dataMessage(c.id, c.left, c.pos)
	c.left = nil
	return m
}

// output makes the event of the next bytes before stop, nil when they are not to
// be seen.
func (c *catchUp) output(stop uint64) (*Message, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	n := int(min(uint64(len(c.rest)), stop-c.pos, uint64(stepSize(c.rows))))
	text := c.engine.Write(c.rest[:n])
	if c.engine.TextDropped() {
		return nil, fmt.Errorf("%w: the output before %d is too much text", errCannotResume, c.pos+uint64(n))
	}
	c.rest, c.pos = c.rest[n:], c.pos+uint64(n)
	if len(text) == 0 {
		return nil, nil
	}
	return dataMessage(c.id, text, c.pos-uint64(c.engine.Held())), nil
}

// ready makes the engine when there is output for it, which for a viewer that
// missed nothing is never.
func (c *catchUp) ready() error {
	if c.engine != nil {
		return nil
	}
	if err := c.prepare(); err != nil {
		return err
	}
	c.engine.TextDropped() // before since
	return c.settle()
}

// settle has the engine forget bytes before since that wait for the rest of their
// character: viewers have a U+FFFD for each, because a generation ended there or
// the byte at since does not continue it. When the byte does continue the
// character, no event ever ended at since.
func (c *catchUp) settle() error {
	n := c.engine.Held()
	if n == 0 {
		return nil
	}
	if c.restarted {
		c.engine.Flush()
		return nil
	}
	p := slices.Concat(c.recent[len(c.recent)-n:], c.rest[:min(len(c.rest), utf8.UTFMax)])
	if r, size := utf8.DecodeRune(p); !utf8.FullRune(p) || r != utf8.RuneError || size > 1 {
		return fmt.Errorf("%w: %d is inside a character", errCannotResume, c.since)
	}
	c.engine.Flush()
	return nil
}

// resize brings the viewer to the next size.
func (c *catchUp) resize(r resize) *Message {
	c.cols, c.rows = r.cols, r.rows
	c.next++
	if c.engine != nil {
		c.engine.Resize(r.cols, r.rows)
	}
	return resizeMessage(c.id, r.cols, r.rows, r.event)
}
