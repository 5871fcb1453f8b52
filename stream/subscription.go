package stream

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/notify"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// ErrClosed is returned by Next and Poll after Close.
var ErrClosed = errors.New("subscription closed")

// Reason says why a viewer gets a snapshot.
type Reason string

// The reasons.
const (
	ReasonConnect Reason = "connect" // it just connected
	ReasonLag     Reason = "lag"     // it fell behind its limit
	ReasonResize  Reason = "resize"  // the screen was rearranged in a way it cannot repeat
	ReasonRestore Reason = "restore" // the terminal came back from disk
)

// replaying takes the place of a reason while a viewer gets what it missed from the journal: it is
// stale until it has caught up with the hub.
const replaying Reason = "resume"

// Subscription is one viewer of a hub. Next (or Poll) has one caller at a time; all other methods
// are safe for concurrent use.
type Subscription struct {
	// Constant. Viewer numbers the viewer, unique in the process.
	Viewer      uint64
	hub         *Hub
	wake        notify.Signal // something waits for Poll; nil with ready
	ready       func()        // SubscribeOptions.Ready
	isDue       atomic.Bool   // ready or wake is about to be called, see Hub.unlock
	historyOnce bool
	who         Who
	onKick      func()       // SubscribeOptions.Kicked
	kicked      atomic.Bool  // see Hub.Kick
	typedAt     atomic.Int64 // when it typed last, in ns since 1970; 0 for never
	whole       bool         // see SubscribeOptions.Whole
	reads       bool         // see SubscribeOptions.Reads
	noResize    bool         // see SubscribeOptions.NoResize
	came        time.Time
	caught      atomic.Bool // Sent was called
	screens     atomic.Bool // a screen was taken, see lag, and Sent was not called since
	replay      *replay     // nil without a position that can be resumed

	// Below: guarded by hub.mu. What the next Poll returns.
	stale      Reason // not "": it needs a snapshot first, or is replaying
	queue      []*Message
	queued     int       // bytes waiting in queue, see MaxQueue
	since      time.Time // when the first of queue came, or the viewer became stale; zero when nothing waits
	news       news      // what of the hub has changed that it was not told
	clipboard  *Message  // the newest write to the clipboard; nil for none
	scrollback int       // history lines in its next snapshot, negative for all
	lazy       bool      // it gets screens alone, until History
	lag        lag

	// For lists of viewers.
	taken   uint64 // position up to which it has taken all
	resyncs int    // snapshots besides its first
	typing  bool   // others were told that it types

	// Its end: exitQueued before exitTaken; closed by Close.
	exitQueued bool // the exit is in the queue or was taken
	exitTaken  bool
	closed     bool

	// What the policies of the hub look at.
	hidden  bool // see Hide
	request request
	theme   vt.Theme // zero for none
}

// SubscribeOptions are the options of a new viewer.
type SubscribeOptions struct {
	// Scrollback limits the history in this viewer's snapshots to the last so many lines; negative
	// means all.
	Scrollback int
	// HistoryOnce puts history into the viewer's first snapshot only. Such a viewer keeps no
	// history of its own, so every resize brings it a snapshot.
	HistoryOnce bool
	// Since is the position up to which the viewer has everything: Seq of the last event it got,
	// from this or an earlier hub of the terminal. If the journal has what followed, the viewer
	// gets the resume event and then only that. nil, or a position that cannot be resumed: it gets
	// a snapshot.
	Since *uint64
	// Who is the viewer. One that may type gets what programs write to the clipboard.
	Who Who
	// Kicked is called, once, when somebody else ends the viewer; nil is nothing.
	Kicked func()
	// Lazy gives the viewer the screen alone until it asks for all of the terminal by History: a slow line shows the
	// screen at once. Scrollback counts from then on.
	Lazy bool
	// Whole gives a viewer that is behind all of the terminal, not the screen alone: for one that cannot be told which
	// of the two it is.
	Whole bool
	// Reads is of a viewer that reads the output from the journal itself: it gets no events, Poll is not called, and
	// Ready says that there may be more output, or none any more.
	Reads bool
	// NoResize says that the viewer cannot be told to resize, or may have done so too soon: a snapshot follows every
	// resize.
	NoResize bool
	// Ready is called when something has come for PollReady or Poll, and after Close; several things may be one call.
	// It is called by the goroutine that has brought it, without the hub's lock, perhaps by two at the same time; it
	// must not block. nil: Next waits. With it nobody calls Next.
	Ready func()
}

// Subscribe adds a viewer. The first thing it gets is a snapshot, or the resume event. The caller
// must Close it.
func (h *Hub) Subscribe(o SubscribeOptions) *Subscription {
	s := &Subscription{Viewer: nextOrder(), hub: h, ready: o.Ready,
		scrollback: o.Scrollback, historyOnce: o.HistoryOnce, who: o.Who, onKick: o.Kicked, whole: o.Whole,
		lazy: o.Lazy, noResize: o.NoResize, stale: ReasonConnect, came: time.Now()}
	if s.ready == nil {
		s.wake = notify.NewSignal()
	}
	if s.since = s.came; o.Reads {
		s.reads, s.stale, s.since = true, "", time.Time{}
	}
	h.lock()
	defer h.unlock()
	h.viewers.add(s)
	h.crowd.Store(int32(len(h.viewers.subs)))
	h.controlJoined(s)
	s.news |= h.standing(s)
	h.resume.noteViewer(h.applied())
	if o.Since != nil {
		if s.replay = h.newReplay(*o.Since); s.replay != nil {
			s.stale = replaying
		}
	}
	h.presenceChanged(s)
	h.InputMayChange()
	s.due()
	return s
}

// Close takes the viewer off the hub; a pending Next returns ErrClosed. Closing twice is allowed.
func (s *Subscription) Close() {
	if !s.remove() {
		return
	}
	if s.replay != nil {
		s.replay.source.close()
	}
	s.wakeUp()
}

// remove reports whether the viewer was there.
func (s *Subscription) remove() bool {
	h := s.hub
	h.mu.Lock()
	defer h.unlock()
	if s.closed {
		return false
	}
	s.closed = true
	s.queue, s.clipboard = nil, nil
	h.viewers.remove(s)
	h.crowd.Store(int32(len(h.viewers.subs)))
	h.controlLeft(s)
	h.presenceChanged(nil)
	return true
}

// Hide marks the viewer as not looked at, as in a page that keeps several terminals and shows one.
// A hidden viewer gets all events, but it is not counted and its size decides nothing.
func (s *Subscription) Hide(hidden bool) {
	h := s.hub
	h.mu.Lock()
	defer h.unlock()
	if s.closed || s.hidden == hidden {
		return
	}
	s.hidden = hidden
	h.settled.Store(0)
	if hidden {
		h.viewers.visible--
	} else {
		h.viewers.visible++
	}
	h.presenceChanged(nil)
}

// presenceChanged publishes that the number of viewers changed. except, who caused it, learns it
// otherwise. The hub's lock is held.
func (h *Hub) presenceChanged(except *Subscription) {
	h.viewers.note(newsViewers, except)
	h.presenceDue()
	h.publishStats()
	h.notifyChanged()
}

// push queues a message for a viewer that is not stale. Past MaxQueue the viewer is behind. The
// hub's lock is held.
func (s *Subscription) push(m *Message) {
	if s.queued += m.cost(); s.queued > s.mayWait() {
		if s.whole {
			s.makeStale(ReasonLag)
		} else {
			s.fallBehind()
		}
		return
	}
	s.waits()
	s.queue = append(s.queue, m)
	s.due()
}

// waits notes that something waits for the viewer. The hub's lock is held.
func (s *Subscription) waits() {
	if s.since.IsZero() {
		s.since = time.Now()
	}
}

// Took notes up to which position of the output a viewer that reads it itself has it.
func (s *Subscription) Took(seq uint64) {
	s.hub.mu.Lock()
	s.taken = seq
	s.hub.mu.Unlock()
}

// Sent notes that what Next or Poll returned was sent to the viewer.
func (s *Subscription) Sent() {
	if h := s.hub; !s.caught.Swap(true) && h.hooks.Caught != nil {
		h.hooks.Caught(time.Since(s.came))
	}
	s.screenSent()
}

// makeStale drops the queue: the viewer gets a snapshot instead. The hub's lock is held.
func (s *Subscription) makeStale(r Reason) {
	if s.reads {
		return
	}
	s.queue, s.queued, s.stale = nil, 0, r
	s.lag.held = false
	s.waits()
	s.due()
}

// resized queues a resize event. A viewer that cannot repeat the resize gets a snapshot behind it.
// The hub's lock is held.
func (s *Subscription) resized(m *Message, exact bool) {
	switch {
	case s.reads:
	case s.stale != "" && s.stale != replaying: // its snapshot has the new size
	case s.lag.behind:
		s.showsLater()
	case !exact || s.historyOnce || s.lazy || s.noResize:
		s.makeStale(ReasonResize)
		s.queue = append(s.queue, m)
	case s.stale == "":
		s.push(m)
	}
}

// Next waits until there is something for the viewer and returns it, in order. Errors: io.EOF
// after the exit, ErrClosed after Close, ctx.Err().
func (s *Subscription) Next(ctx context.Context) ([]*Message, error) {
	for {
		batch, err := s.Poll()
		if err != nil || len(batch) > 0 {
			return batch, err
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Poll returns what waits for the viewer, in order, without waiting for more; nil when nothing
// does. It reads what the viewer missed from the journal. Errors: io.EOF after the exit event was
// returned, ErrClosed after Close.
func (s *Subscription) Poll() ([]*Message, error) {
	for {
		s.hub.mu.Lock()
		if s.closed || s.exitTaken || s.stale != replaying {
			return s.pollAndUnlock()
		}
		t, failed := s.replayTarget()
		s.hub.mu.Unlock()
		if failed == "" {
			batch, err := s.replay.advance(t)
			if len(batch) > 0 && err == nil {
				return batch, nil
			}
			failed = s.replay.failed(err)
		}
		if batch := s.join(t, failed); batch != nil {
			return batch, nil
		}
	}
}

// PollReady is Poll of a viewer whose events are ready to be sent. ok is false, and nothing was taken, where Poll has
// to make a snapshot or to read the journal, which takes long.
func (s *Subscription) PollReady() (batch []*Message, ok bool, err error) {
	s.hub.mu.Lock()
	if s.stale != "" && !s.lag.held && !s.closed && !s.exitTaken {
		s.hub.mu.Unlock()
		return nil, false, nil
	}
	batch, err = s.pollAndUnlock()
	return batch, true, err
}

// pollAndUnlock is Poll of a viewer that is not replaying. The hub's lock is held, and is released.
func (s *Subscription) pollAndUnlock() (batch []*Message, err error) {
	h := s.hub
	reason := s.stale
	switch {
	case s.closed:
		reason, err = "", s.over()
	case s.exitTaken:
		reason, err = "", io.EOF
	case s.lag.held:
		batch, reason = s.appendClipboard(nil), ""
	case s.lag.behind && reason == ReasonLag:
		s.queue, s.queued, s.stale, reason = nil, 0, "", ""
		batch = s.takeScreen()
	case reason != "":
		batch = s.takeSnapshot(reason)
	default:
		batch, s.queue, s.queued = s.queue, nil, 0
		if s.clipboard != nil {
			batch = append(s.appendClipboard(nil), batch...) // before the exit, which may be in it
		}
	}
	if s.stale == "" {
		s.since = time.Time{}
		s.taken = h.applied()
	}
	if err == nil {
		if s.news != 0 && !s.exitQueued {
			batch = append(batch, metaMessage(h.id, h.withNews(&wire.EventMeta{}, s.news)))
		}
		s.news, s.exitTaken = 0, s.exitQueued
	}
	h.mu.Unlock()
	if reason != "" && h.hooks.Resync != nil {
		h.hooks.Resync(reason)
	}
	if s.replay != nil {
		s.replay.release()
	}
	return batch, err
}

// takeSnapshot returns the events of a stale viewer, which is up to date then. The hub's lock is
// held.
func (s *Subscription) takeSnapshot(reason Reason) []*Message {
	h := s.hub
	batch := s.queue // it is the caller's from now on
	s.queue, s.queued, s.stale = nil, 0, ""
	if s.lazy {
		batch = append(batch, h.snapshotLocked().screen(reason))
	} else {
		batch = append(batch, h.snapshotLocked().message(reason, s.scrollback))
	}
	if s.historyOnce {
		s.scrollback = 0
	}
	if s.resynced(reason) {
		batch = append(batch, metaMessage(h.id, h.currentMeta())) // it may have been in the dropped queue
	}
	return s.appendExit(s.appendClipboard(batch))
}

// resynced notes a snapshot, and reports whether it is not the viewer's first. The hub's lock is held.
func (s *Subscription) resynced(reason Reason) bool {
	if reason != ReasonConnect {
		s.resyncs++
	}
	return reason != ReasonConnect
}

// History gives a lazy viewer all of the terminal, and changes of it from then on. Any other has it.
func (s *Subscription) History() {
	s.hub.mu.Lock()
	defer s.hub.unlock()
	if !s.lazy || s.closed || s.exitTaken {
		return
	}
	s.lazy = false
	switch {
	case s.exitQueued: // its events are on their way: the snapshot has the exit behind it again
		s.exitQueued = false
		s.makeStale(ReasonConnect)
	case s.lag.behind: // it comes when the viewer keeps up
	default:
		s.makeStale(ReasonConnect)
	}
}

// appendClipboard adds the write to the clipboard that waits.
func (s *Subscription) appendClipboard(batch []*Message) []*Message {
	if s.clipboard != nil {
		batch = append(batch, s.clipboard)
		s.clipboard = nil
	}
	return batch
}

// appendExit adds the exit, if there is one, for a viewer that just became up to date.
func (s *Subscription) appendExit(batch []*Message) []*Message {
	h := s.hub
	if h.exit == nil {
		return batch
	}
	s.exitQueued = true
	return append(batch, exitMessage(h.id, *h.exit, h.seq))
}
