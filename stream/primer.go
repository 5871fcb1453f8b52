package stream

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/vt"
)

const (
	// primeBytes is the output that an engine gets before the part whose text is wanted, in bytes.
	// It is more than any sequence that is not void (vt.MaxString), and enough for the program to
	// have said where the cursor is.
	primeBytes = 128 << 10
	// maxPrimeBytes bounds the same when no sequence begins in the last primeBytes, in bytes: some
	// 10 ms of work.
	maxPrimeBytes = 1 << 20
	// maxSearch bounds the output in which such a beginning is searched, in bytes: plain text may
	// have none for long, and is searched at gigabytes a second.
	maxSearch = 64 << 20
	// searchFactor is by how much each search reaches further back than the one before.
	searchFactor = 8
)

// primer brings the parser of a fresh engine into the state that the output before since leaves
// it in: which sequence is open, and how much of it viewers have. The state of a parser is known
// at the beginning of all output and from each ESC on. What depends on the screen, the clamping
// of counts and ED 1 in the last cell, needs its size, and the cursor as far as primeBytes
// determine it.
type primer struct {
	journal *journal.Journal
	engine  vt.Engine // in the size before resizes
	since   uint64
	resizes []resize // before since; those that the engine has are removed
	next    []byte   // output from since on, at least one byte
	recent  []byte   // the last bytes before since that the engine got, at most vt.MaxHeld
}

// prime brings the engine to since. Errors wrap errCannotResume or are the journal's.
func (p *primer) prime() error {
	if done, err := p.primeFromRest(); done || err != nil {
		return err
	}
	end := p.since
	terminators := false
	for n := uint64(primeBytes); ; n *= searchFactor {
		begin := max(p.since-min(n, p.since), p.journal.Start())
		f, err := p.search(begin, end)
		terminators = terminators || f.terminators
		switch {
		case err != nil:
			return err
		case f.found && n == primeBytes:
			return p.feed(f.first, p.since)
		case f.found:
			return p.primeFrom(f.last, terminators)
		case begin == 0:
			return p.primeFrom(0, terminators)
		case begin == p.journal.Start() || n >= maxSearch:
			return fmt.Errorf("%w: nothing in %d bytes before %d tells what state the output is in", errCannotResume,
				p.since-begin, p.since)
		}
		end = begin
	}
}

// primeFromRest primes from a position where the journal knows that no sequence is open, far
// enough before since if there is so much. done is false when it knows none, as the journal of an
// older release, and when the last bytes have an ESC, which is cheaper.
func (p *primer) primeFromRest() (done bool, err error) {
	begin := max(p.since-min(primeBytes, p.since), p.journal.Start())
	f, err := p.search(begin, p.since)
	if err != nil || f.found {
		return false, err
	}
	for _, pos := range []uint64{begin, p.since} {
		at, ok := p.journal.RestBefore(pos)
		if ok && at >= p.journal.Start() && p.since-at <= maxPrimeBytes {
			return true, p.feedFromRest(at)
		}
	}
	return false, nil
}

// feedFromRest feeds output from a position at which no sequence is open. That position may be
// inside a character, whose last bytes alone mean something else to the engine, so since has to
// be behind the character.
func (p *primer) feedFromRest(at uint64) error {
	if err := p.feed(at, p.since); err != nil {
		return err
	}
	if p.since-at > vt.MaxHeld {
		return nil
	}
	if next := slices.Concat(p.recent, p.next); !utf8.RuneStart(next[0]) {
		return fmt.Errorf("%w: %d may be inside a character", errCannotResume, p.since)
	}
	return nil
}

// primeFrom primes from a known state at from. The middle of a long stretch that does not change
// that state is left out; with terminators it may.
func (p *primer) primeFrom(from uint64, terminators bool) error {
	switch n := p.since - from; {
	case n <= 2*primeBytes || terminators && n <= maxPrimeBytes:
		return p.feed(from, p.since)
	case terminators:
		return fmt.Errorf("%w: %d bytes are too much to get into its state at %d", errCannotResume, n, p.since)
	}
	if err := p.feed(from, from+primeBytes); err != nil {
		return err
	}
	return p.feed(p.since-primeBytes, p.since)
}

// feed writes output to the engine, with the changes of size in their places, and drops the text.
func (p *primer) feed(from, to uint64) error {
	return p.output(from, to, func(b []byte, at uint64) {
		rest := b
		for len(p.resizes) > 0 && p.resizes[0].at <= at+uint64(len(rest)) {
			r := p.resizes[0]
			n := r.at - min(r.at, at)
			p.engine.Write(rest[:n])
			p.engine.Resize(r.Cols, r.Rows)
			rest, at, p.resizes = rest[n:], at+n, p.resizes[1:]
		}
		p.engine.Write(rest)
		p.recent = append(p.recent, b[max(0, len(b)-vt.MaxHeld):]...)
		p.recent = p.recent[max(0, len(p.recent)-vt.MaxHeld):]
	})
}

// dropHeld makes the engine forget bytes before since that wait for the rest of their character.
// Viewers have a U+FFFD for each, because a generation ended there or the byte at since does not
// continue the character. When it does, no event ever ended at since: errCannotResume.
func (p *primer) dropHeld(restarted bool) error {
	n := p.engine.Held()
	if n == 0 {
		return nil
	}
	if !restarted {
		c := slices.Concat(p.recent[len(p.recent)-n:], p.next[:min(len(p.next), utf8.UTFMax)])
		if r, size := utf8.DecodeRune(c); !utf8.FullRune(c) || r != utf8.RuneError || size > 1 {
			return fmt.Errorf("%w: %d is inside a character", errCannotResume, p.since)
		}
	}
	p.engine.Flush()
	return nil
}

// search finds sync points in the output from one position to another. The byte before since does
// not count: viewers may have an ESC without what it belongs to.
func (p *primer) search(from, to uint64) (f finding, err error) {
	if to == p.since && to > from {
		to--
	}
	err = p.output(from, to, func(b []byte, at uint64) { f.observe(b, at) })
	return f, err
}

// output calls do with the output from one position to another, piece by piece. Errors wrap
// errCannotResume or are the journal's.
func (p *primer) output(from, to uint64, do func(b []byte, at uint64)) error {
	if from == to {
		return nil
	}
	r, err := p.journal.Read(from)
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
			p.engine.Flush() // a character that the generation before left incomplete
			continue
		case e.Kind != journal.EntryOutput:
			continue
		}
		b := e.Data[:min(uint64(len(e.Data)), to-pos)]
		do(b, pos)
		pos += uint64(len(b))
	}
	return nil
}
