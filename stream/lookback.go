package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/vt"
)

const (
	// warmUp is the output, in bytes, that an engine is given before the part
	// whose text is wanted. It is more than any sequence that is not void
	// (vt.MaxString), and enough for the program to have said where the cursor is.
	warmUp = 128 << 10
	// maxWarmUp bounds the same when there is no beginning of a sequence in the
	// last warmUp bytes, in bytes: some 10 ms of work.
	maxWarmUp = 1 << 20
	// maxLook is how far back such a beginning is looked for, in bytes: plain text
	// may have none for long, and it is looked through at gigabytes a second.
	maxLook = 64 << 20
	// lookStep is by how much each look reaches further back than the one before.
	lookStep = 8
)

// look is what a part of the output says about what follows it.
type look struct {
	found bool
	first uint64 // the first ESC, CAN or SUB in it: there every parser is in a known state
	last  uint64
	odd   bool // behind last are other characters that may end or begin a sequence
}

// prepare makes the engine and brings its parser into the state that it has to
// have at since: which sequence is open, and what of it viewers have. The state
// of a parser is known at the beginning of all output and from each ESC on. What
// depends on the screen, the clamping of counts and ED 1 in the last cell, needs
// its size, and the cursor as far as warmUp bytes determine it.
func (c *catchUp) prepare() error {
	c.engine = c.fresh(c.firstCols, c.firstRows)
	if err := c.warmed(); err != nil {
		return err
	}
	c.engine.Resize(c.cols, c.rows)
	return nil
}

// warmed is prepare of an engine that has the size of the beginning.
func (c *catchUp) warmed() error {
	if done, err := c.fromRest(); done || err != nil {
		return err
	}
	end := c.since
	odd := false
	for n := uint64(warmUp); ; n *= lookStep {
		begin := c.since - min(n, c.since)
		if begin < c.journal.Start() {
			begin = c.journal.Start()
		}
		l, err := c.look(begin, end)
		switch {
		case err != nil:
			return err
		case l.found && n == warmUp:
			return c.feed(l.first, c.since)
		case l.found:
			return c.warm(l.last, odd || l.odd)
		case begin == 0:
			return c.warm(0, odd || l.odd)
		case begin == c.journal.Start() || n >= maxLook:
			return fmt.Errorf("%w: nothing in %d bytes before %d tells what state the output is in", errCannotResume,
				c.since-begin, c.since)
		}
		end, odd = begin, odd || l.odd
	}
}

// fromRest is prepare by what the journal knows of where the output is at rest, far enough before since when there is
// so much. done is false when it knows of no such place, as the journal of an older release, and when the last bytes
// have an ESC, which is cheaper.
func (c *catchUp) fromRest() (done bool, err error) {
	begin := max(c.since-min(warmUp, c.since), c.journal.Start())
	l, err := c.look(begin, c.since)
	if err != nil || l.found {
		return false, err
	}
	for _, pos := range []uint64{begin, c.since} {
		at, ok := c.journal.RestBefore(pos)
		if ok && at >= c.journal.Start() && c.since-at <= maxWarmUp {
			return true, c.feedFromRest(at)
		}
	}
	return false, nil
}

// feedFromRest is feed from where the output is at rest. That may be inside a character, whose end means something else
// to the engine: since has to be behind it.
func (c *catchUp) feedFromRest(at uint64) error {
	if err := c.feed(at, c.since); err != nil {
		return err
	}
	if c.since-at > vt.MaxHeld {
		return nil
	}
	if next := slices.Concat(c.recent, c.rest); !utf8.RuneStart(next[0]) {
		return fmt.Errorf("%w: %d may be inside a character", errCannotResume, c.since)
	}
	return nil
}

// warm gives the engine what it needs from a known state at from on. A long
// stretch in which nothing changes that state is left out.
func (c *catchUp) warm(from uint64, odd bool) error {
	switch n := c.since - from; {
	case n <= 2*warmUp || odd && n <= maxWarmUp:
		return c.feed(from, c.since)
	case odd:
		return fmt.Errorf("%w: %d bytes are too much to get into its state at %d", errCannotResume, n, c.since)
	}
	if err := c.feed(from, from+warmUp); err != nil {
		return err
	}
	return c.feed(c.since-warmUp, c.since)
}

// feed writes output to the engine and throws the text away.
func (c *catchUp) feed(from, to uint64) error {
	return c.scan(from, to, func(p []byte, at uint64) {
		rest := p
		for len(c.before) > 0 && c.before[0].at <= at+uint64(len(rest)) {
			n := c.before[0].at - min(c.before[0].at, at)
			c.engine.Write(rest[:n])
			c.engine.Resize(c.before[0].cols, c.before[0].rows)
			rest, at, c.before = rest[n:], at+n, c.before[1:]
		}
		c.engine.Write(rest)
		c.recent = append(c.recent, p[max(0, len(p)-vt.MaxHeld):]...)
		c.recent = c.recent[max(0, len(c.recent)-vt.MaxHeld):]
	})
}

// look looks through the output from one position to another. The byte before
// since does not count: viewers may have an ESC without what it belongs to.
func (c *catchUp) look(from, to uint64) (l look, err error) {
	if to == c.since && to > from {
		to--
	}
	err = c.scan(from, to, func(p []byte, at uint64) { l.see(p, at) })
	return l, err
}

// see adds the output p, which begins at position at.
func (l *look) see(p []byte, at uint64) {
	first, last := -1, -1
	for _, b := range []byte{0x1b, 0x18, 0x1a} { // ESC, CAN, SUB
		i := bytes.IndexByte(p, b)
		if i < 0 {
			continue
		}
		if first < 0 || i < first {
			first = i
		}
		last = max(last, bytes.LastIndexByte(p, b))
	}
	if first >= 0 {
		if !l.found {
			l.first = at + uint64(first)
		}
		l.found, l.last, l.odd = true, at+uint64(last), false
		p = p[last:]
	}
	l.odd = l.odd || bytes.IndexByte(p, 0x07) >= 0 || hasC1(p)
}

// hasC1 reports whether p may have a control of C1, U+0080 to U+009F: the last byte
// can be the half of one.
func hasC1(p []byte) bool {
	for {
		i := bytes.IndexByte(p, 0xc2)
		if i < 0 {
			return false
		}
		if p = p[i+1:]; len(p) == 0 || p[0] < 0xa0 {
			return true
		}
	}
}

// scan hands out the output from one position to another.
func (c *catchUp) scan(from, to uint64, do func(p []byte, at uint64)) error {
	if from == to {
		return nil
	}
	r, err := c.journal.Read(from)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // read only: nothing is lost
	for pos := from; pos < to; {
		e, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%w: the journal ends at %d", errCannotResume, pos)
		case err != nil:
			return err
		case e.Kind == journal.EntryGap || e.Damaged:
			return fmt.Errorf("%w: the journal is damaged or has a gap before %d", errCannotResume, e.Seq)
		case e.Kind == journal.EntryRestart:
			c.engine.Flush() // what the generation before left of a character
			continue
		case e.Kind != journal.EntryOutput:
			continue
		}
		p := e.Data[:min(uint64(len(e.Data)), to-pos)]
		do(p, pos)
		pos += uint64(len(p))
	}
	return nil
}
