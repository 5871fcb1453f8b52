package stream

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/evertty/evertty/vt"
)

// ErrClosed is returned by Next after Close.
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

// catchingUp is in the place of a reason while a viewer is given what it missed
// from the journal: it is stale until it has caught up with the hub.
const catchingUp Reason = "resume"

// Subscription is one viewer of a hub. Next (or Poll) and Close may be called
// from different goroutines; Next itself has one caller at a time.
type Subscription struct {
	// Viewer numbers this viewer, unique in the process.
	Viewer uint64

	hub        *Hub
	wake       chan struct{}
	scrollback int      // history lines in its snapshots, negative for all; of one that is once guarded by hub.mu
	once       bool     // history is in its first snapshot only: it keeps none to rearrange
	types      bool     // it may type
	past       *catchUp // nil unless it came with a position that can be resumed

	// Below: guarded by hub.mu.
	stale    Reason // not "": it needs a snapshot first, or is catchingUp
	queue    []*Message
	size     int // bytes waiting in queue
	presence bool
	// clipboard is the last write to it that the viewer has not got, nil for none.
	clipboard *Message
	ended     bool // the exit message is in the queue or was taken
	done      bool // the exit message was taken
	closed    bool
	hidden    bool // see Hide
	wish      wish
	theme     vt.Theme // that it draws with
}

// Viewing are the options of a new viewer.
type Viewing struct {
	// Scrollback limits the history in this viewer's snapshots to the last so
	// many lines; negative means all.
	Scrollback int
	// HistoryOnce has the history in the viewer's first snapshot only. Such a viewer
	// keeps no history of its own, so every resize brings it a snapshot.
	HistoryOnce bool
	// Since is the position up to which the viewer has everything: Seq of the last
	// event it got, of this or of an earlier hub of the terminal. If the journal has
	// what followed, the viewer gets the resume event and then only that. nil, or a
	// position that cannot be resumed: it gets a snapshot.
	Since *uint64
	// Types says that the viewer may type. It is told what programs write to the
	// clipboard then.
	Types bool
}

// Subscribe adds a viewer. The first thing it gets is a snapshot, or the resume
// event. The caller must Close it.
func (h *Hub) Subscribe(v Viewing) *Subscription {
	s := &Subscription{Viewer: order.Add(1), hub: h, wake: make(chan struct{}, 1),
		scrollback: v.Scrollback, once: v.HistoryOnce, types: v.Types, stale: ReasonConnect}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs = append(h.subs, s)
	h.viewers++
	if !h.viewed {
		h.viewed, h.firstView = true, h.applied()
	}
	if v.Since != nil {
		if s.past = h.newCatchUp(*v.Since); s.past != nil {
			s.stale = catchingUp
		}
	}
	h.presence(s)
	wake(s.wake)
	return s
}

// Close takes the viewer off the hub. It is idempotent; a pending Next returns
// ErrClosed.
func (s *Subscription) Close() {
	if s.leave() && s.past != nil {
		s.past.close()
	}
}

// leave reports whether the viewer was there.
func (s *Subscription) leave() bool {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.closed {
		return false
	}
	s.closed = true
	s.queue, s.clipboard = nil, nil
	h.subs = slices.DeleteFunc(h.subs, func(x *Subscription) bool { return x == s })
	if !s.hidden {
		h.viewers--
	}
	h.presence(nil)
	wake(s.wake)
	return true
}

// Hide says whether nobody looks at the viewer's copy of the terminal, as in a page
// that keeps several and shows one. A hidden viewer gets all events, but it is not
// counted and its size decides nothing.
func (s *Subscription) Hide(hidden bool) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.closed || s.hidden == hidden {
		return
	}
	s.hidden = hidden
	if hidden {
		h.viewers--
	} else {
		h.viewers++
	}
	h.presence(nil)
}

// presence notes for everybody but one that the number of viewers changed.
func (h *Hub) presence(but *Subscription) {
	for _, s := range h.subs {
		if s == but {
			continue
		}
		s.presence = true
		if len(h.subs) <= presenceWake {
			wake(s.wake)
		}
	}
	h.show()
	h.changed()
}

// push queues a message for a viewer that is not stale. Past its limit the
// viewer is stale and its queue is dropped. The hub's lock is held.
func (s *Subscription) push(m *Message) {
	s.size += m.cost()
	if s.size > MaxQueue {
		s.drop(ReasonLag)
	} else {
		s.queue = append(s.queue, m)
	}
	wake(s.wake)
}

func (s *Subscription) drop(r Reason) {
	s.queue, s.size, s.stale = nil, 0, r
}

// resized makes a viewer stale that cannot repeat the emulator's resize. It
// still gets the resize message, then a snapshot. The hub's lock is held.
func (s *Subscription) resized() {
	if s.stale != "" && s.stale != catchingUp {
		return
	}
	s.drop(ReasonResize)
	s.queue = append(s.queue, resizeMessage(s.hub.id, s.hub.cols, s.hub.rows, s.hub.applied()))
	wake(s.wake)
}

// Poll returns what waits for the viewer, in order, without waiting for more; nil
// when nothing does. After the exit message was returned the error is io.EOF,
// after Close it is ErrClosed. What a viewer missed is read from the journal here.
func (s *Subscription) Poll() ([]*Message, error) {
	for {
		s.hub.mu.Lock()
		if s.closed || s.done || s.stale != catchingUp {
			batch, err := s.poll()
			if s.past != nil {
				s.past.release()
			}
			return batch, err
		}
		t, reason := s.target()
		s.hub.mu.Unlock()
		if reason == "" {
			batch, err := s.past.advance(t)
			if len(batch) > 0 && err == nil {
				return batch, nil
			}
			reason = s.past.failed(err)
		}
		if batch := s.join(t, reason); batch != nil {
			return batch, nil
		}
	}
}

// poll is Poll for a viewer that is not catching up. It unlocks the hub.
func (s *Subscription) poll() ([]*Message, error) {
	h := s.hub
	if s.closed || s.done {
		defer h.mu.Unlock()
		if s.closed {
			return nil, ErrClosed
		}
		return nil, io.EOF
	}
	batch := s.queue
	s.queue, s.size = nil, 0
	reason := s.stale
	if reason != "" {
		s.stale = ""
		batch = append(batch, h.shotLocked().message(reason, s.scrollback))
		if s.once {
			s.scrollback = 0
		}
		if reason != ReasonConnect {
			batch = append(batch, metaMessage(h.id, h.standing())) // what was dropped with the queue
		}
		batch = s.appendExit(s.appendClipboard(batch))
	} else if s.clipboard != nil {
		batch = append(s.appendClipboard(nil), batch...) // before the exit, which may be in it
	}
	if s.presence && !s.ended {
		batch = append(batch, metaMessage(h.id, Meta{Viewers: new(h.viewers)}))
	}
	s.presence = false
	s.done = s.ended
	h.mu.Unlock()
	if reason != "" && h.observe.Resync != nil {
		h.observe.Resync(reason)
	}
	return batch, nil
}

// appendClipboard adds the write to the clipboard that waits.
func (s *Subscription) appendClipboard(batch []*Message) []*Message {
	if s.clipboard != nil {
		batch = append(batch, s.clipboard)
		s.clipboard = nil
	}
	return batch
}

// appendExit adds the exit for a viewer that is not stale any more.
func (s *Subscription) appendExit(batch []*Message) []*Message {
	h := s.hub
	if h.exit == nil {
		return batch
	}
	s.ended = true
	return append(batch, exitMessage(h.id, *h.exit, h.seq))
}

// target is where a viewer that catches up has to get. Once it has what it missed
// before it came it may be behind no more than others. The hub's lock is held.
func (s *Subscription) target() (target, Reason) {
	h, c := s.hub, s.past
	list, ok := h.resizes.from(c.next)
	if !ok || c.pos >= c.goal && h.seq-c.pos > MaxQueue {
		return target{}, ReasonLag
	}
	if s.once && len(list) > 0 {
		return target{}, ReasonResize
	}
	return target{seq: h.seq, resizes: slices.Clone(list)}, ""
}

// join makes a viewer that has got to t one like all others, when the hub is
// still there; what it returns then is never empty. With a reason the viewer is
// to get a snapshot instead.
func (s *Subscription) join(t target, failed Reason) (batch []*Message) {
	h, c := s.hub, s.past
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.closed || s.stale != catchingUp {
		return nil
	}
	switch {
	case failed != "":
		s.stale = failed
	case h.seq == t.seq && h.resizes.count() == c.next:
		s.stale, s.presence = "", false
		if h.exit != nil {
			c.flush()
		}
		if m := c.tail(); m != nil {
			batch = append(batch, m)
		}
		batch = s.appendExit(s.appendClipboard(append(batch, metaMessage(h.id, h.standing()))))
		s.done = s.ended
	}
	return batch
}

// Next waits until there is something for the viewer and returns it, in order.
// Errors: io.EOF after the exit, ErrClosed after Close, or the context's.
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
