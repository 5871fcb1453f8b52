package stream

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/vt"
)

// errCannotResume is wrapped by the errors that give a viewer a snapshot although it asked to
// resume.
var errCannotResume = errors.New("the output cannot be resumed")

// resumeLog is what a hub needs to let viewers resume. The hub's lock guards it.
type resumeLog struct {
	journal   *journal.Journal               // constant; nil: viewers cannot resume
	newEngine func(cols, rows int) vt.Engine // constant; an engine without history and effects
	resizes   resizes

	// widthTableChanged: viewers from before the restart need a snapshot. Those are the viewers that have
	// nothing beyond firstView, the position when the first viewer after the restart came.
	widthTableChanged, viewed bool
	firstView                 uint64
}

// noteViewer notes a new viewer at a position.
func (l *resumeLog) noteViewer(seq uint64) {
	if !l.viewed {
		l.viewed, l.firstView = true, seq
	}
}

// replay gives one viewer what it missed, from the journal. An engine of its own makes the text
// of the bytes, as the hub's engine made it for the viewers that were there; its screen is not
// used. All of it belongs to the caller of Poll, except source.
type replay struct {
	id        string
	journal   *journal.Journal
	newEngine func(cols, rows int) vt.Engine

	// When the viewer came.
	since     uint64   // the viewer has everything up to here
	goal      uint64   // output bytes that the hub had written
	known     uint64   // changes of size before it are in the journal alone
	had       []resize // changes of size that the viewer has, as far as they are known
	firstSize Size     // before them

	// How far it has come since.
	started bool   // the viewer got the resume event
	pos     uint64 // the viewer has what bytes up to here make
	size    Size   // what the viewer has
	next    int    // number of the first change of size that it has not

	source    source
	rest      []byte    // of the last entry read, what follows pos
	engine    vt.Engine // nil until there is output to make text of
	restarted bool      // a generation ended before there was an engine
	flushed   []byte    // text of a character that a generation left incomplete at its end
}

// newReplay is nil when the hub cannot resume a viewer that has everything up to since. The hub's
// lock is held.
func (h *Hub) newReplay(since uint64) *replay {
	l := &h.resume
	if l.journal == nil || since > h.applied() || l.widthTableChanged && since <= l.firstView {
		return nil
	}
	had, ok := l.resizes.until(since)
	if !ok {
		return nil
	}
	return &replay{
		id: h.id, journal: l.journal, newEngine: l.newEngine, since: since, goal: h.seq, known: l.resizes.known,
		had: slices.Clone(had), firstSize: l.resizes.first, pos: since, size: l.resizes.sizeAfter(had),
		next: l.resizes.dropped + len(had),
	}
}

// target is how far the hub is.
type target struct {
	seq     uint64
	resizes []resize // changes of size that the viewer has not
}

// stop is where the viewer's next change of size is, or the end.
func (t target) stop() uint64 {
	if len(t.resizes) > 0 {
		return min(t.seq, t.resizes[0].at)
	}
	return t.seq
}

// replayTarget is where a replaying viewer has to get. failed is not "" when it gets a snapshot
// instead. Once it has what it missed before it came it may be no further behind than other
// viewers. The hub's lock is held.
func (s *Subscription) replayTarget() (t target, failed Reason) {
	h, r := s.hub, s.replay
	list, ok := h.resume.resizes.from(r.next)
	if !ok || r.pos >= r.goal && h.seq-r.pos > MaxQueue {
		return target{}, ReasonLag
	}
	if (s.historyOnce || s.lazy) && len(list) > 0 {
		return target{}, ReasonResize
	}
	return target{seq: h.seq, resizes: slices.Clone(list)}, ""
}

// join ends the replay of a viewer that has got to t, if the hub is still there, and returns the
// last events of it, which are never none. With failed the viewer gets a snapshot next.
func (s *Subscription) join(t target, failed Reason) (batch []*Message) {
	h, r := s.hub, s.replay
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.closed || s.stale != replaying {
		return nil
	}
	switch {
	case failed != "":
		s.stale = failed
	case h.seq == t.seq && h.resume.resizes.count() == r.next:
		now := h.withNews(h.currentMeta(), s.news)
		s.stale, s.news, s.since, s.taken = "", 0, time.Time{}, h.applied()
		if h.exit != nil {
			r.flush()
		}
		if m := r.takeFlushed(); m != nil {
			batch = append(batch, m)
		}
		batch = s.appendExit(s.appendClipboard(append(batch, metaMessage(h.id, now))))
		s.exitTaken = s.exitQueued
	}
	return batch
}

// failed is the reason for a snapshot after err, "" when err is nil. The error itself is reported
// nowhere: the journal's owner knows its troubles, and the viewer loses nothing.
func (r *replay) failed(err error) Reason {
	switch {
	case err == nil:
		return ""
	case r.started:
		return ReasonLag
	}
	return ReasonConnect
}

// release frees what a viewer that has caught up does not need.
func (r *replay) release() {
	r.source.close()
	r.engine, r.rest = nil, nil
}

// advance returns the next events on the way to t, none when the viewer is there. It reads without
// the hub's lock. Errors wrap errCannotResume, ErrClosed or the journal's.
func (r *replay) advance(t target) ([]*Message, error) {
	if !r.started {
		return r.start(t)
	}
	for {
		more, err := r.read(t.stop())
		if err != nil {
			return nil, err
		}
		if m := r.takeFlushed(); m != nil {
			return []*Message{m}, nil
		}
		switch {
		case more:
			m, err := r.output(t.stop())
			if m != nil || err != nil {
				return []*Message{m}, err
			}
		case len(t.resizes) > 0:
			return []*Message{r.resize(t.resizes[0])}, nil
		default:
			return nil, nil
		}
	}
}

// start returns the resume event, once it is certain that the viewer can resume.
func (r *replay) start(t target) ([]*Message, error) {
	if err := r.source.open(r.journal, r.since); err != nil {
		return nil, err
	}
	more, err := r.read(t.stop())
	if err == nil && more {
		err = r.prepareEngine()
	}
	if err != nil {
		return nil, err
	}
	r.started = true
	return []*Message{placeMessage(KindResume, r.id, r.size, r.since)}, nil
}

// read fills rest with the next output and handles the entries before it. more is false when pos
// is at stop.
func (r *replay) read(stop uint64) (more bool, err error) {
	for len(r.rest) == 0 {
		e, err := r.source.next()
		if errors.Is(err, io.EOF) && r.pos >= stop {
			return false, nil
		}
		if err == nil {
			err = r.handle(e)
		}
		if err != nil {
			return false, err
		}
	}
	return r.pos < stop, nil
}

// handle acts on an entry of the journal.
func (r *replay) handle(e journal.Entry) error {
	switch {
	case e.Kind == journal.EntryGap || e.Damaged:
		return fmt.Errorf("%w: the journal is damaged or has a gap before %d", errCannotResume, e.Seq)
	case e.Kind == journal.EntryOutput:
		if begin := e.Seq - uint64(len(e.Data)); begin != r.pos {
			return fmt.Errorf("%w: the journal goes on at %d after %d", errCannotResume, begin, r.pos)
		}
		r.rest = e.Data
	case e.Kind == journal.EntryResize && e.Seq < r.known:
		return fmt.Errorf("%w: whether viewers can repeat the change of size at %d is unknown", errCannotResume,
			e.Seq)
	case e.Kind == journal.EntryRestart:
		if (Size{Cols: e.Cols, Rows: e.Rows}) != r.size {
			return fmt.Errorf("%w: the size changed with the restart at %d", errCannotResume, e.Seq)
		}
		r.restarted = true
		r.flush()
	}
	return nil
}

// flush keeps the text of an incomplete character, because its rest will not come.
func (r *replay) flush() {
	if r.engine != nil && r.engine.Held() > 0 {
		r.flushed = append(r.flushed, r.engine.Flush()...)
	}
}

// takeFlushed is the event with the text that flush kept, nil when there is none.
func (r *replay) takeFlushed() *Message {
	if len(r.flushed) == 0 {
		return nil
	}
	m := dataMessage(r.id, r.flushed, r.pos)
	r.flushed = nil
	return m
}

// output makes the event of the next bytes before stop, nil when they have no text.
func (r *replay) output(stop uint64) (*Message, error) {
	if err := r.prepareEngine(); err != nil {
		return nil, err
	}
	n := int(min(uint64(len(r.rest)), stop-r.pos, uint64(stepSize(r.size.Rows))))
	text := r.engine.Write(r.rest[:n])
	if r.engine.TextDropped() {
		return nil, fmt.Errorf("%w: the output before %d is too much text", errCannotResume, r.pos+uint64(n))
	}
	r.rest, r.pos = r.rest[n:], r.pos+uint64(n)
	if len(text) == 0 {
		return nil, nil
	}
	return dataMessage(r.id, text, r.pos-uint64(r.engine.Held())), nil
}

// prepareEngine makes the engine when there is output for it. A viewer that missed nothing never
// needs one.
func (r *replay) prepareEngine() error {
	if r.engine != nil {
		return nil
	}
	p := primer{journal: r.journal, engine: r.newEngine(r.firstSize.Cols, r.firstSize.Rows), since: r.since,
		resizes: r.had, next: r.rest}
	if err := p.prime(); err != nil {
		return err
	}
	p.engine.Resize(r.size.Cols, r.size.Rows)
	p.engine.TextDropped() // of the output before since
	if err := p.dropHeld(r.restarted); err != nil {
		return err
	}
	r.engine = p.engine
	return nil
}

// resize brings the viewer to the next size.
func (r *replay) resize(c resize) *Message {
	r.size = c.Size
	r.next++
	if r.engine != nil {
		r.engine.Resize(c.Cols, c.Rows)
	}
	return placeMessage(KindResize, r.id, c.Size, c.event)
}

// source reads the journal for one viewer. close may be called from another goroutine.
type source struct {
	mu     sync.Mutex // held while reading
	reader *journal.Reader
	closed bool
}

// open begins to read at a position. Errors: ErrClosed, the journal's.
func (s *source) open(j *journal.Journal, since uint64) error {
	r, err := j.Read(since)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = r.Close() // read only: nothing is lost
		return ErrClosed
	}
	s.reader = r
	return nil
}

// next returns the next entry. Errors: io.EOF, ErrClosed, the journal's.
func (s *source) next() (journal.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return journal.Entry{}, ErrClosed
	}
	return s.reader.Next()
}

// close frees the journal; a later next fails. Closing twice is allowed.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.reader != nil {
		_ = s.reader.Close() // read only: nothing is lost
		s.reader = nil
	}
}
