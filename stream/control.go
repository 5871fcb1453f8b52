package stream

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evertty/evertty/wire"
)

const (
	// holderGrace is how long the holder of a locked terminal may be gone: a line breaks, a page is loaded again.
	holderGrace = 30 * time.Second
	// maxRequests bounds the viewers that ask for the control: more than a person can choose from.
	maxRequests = 64
)

// Errors of Control and MayType.
var (
	// ErrLocked refuses what the holder alone may do.
	ErrLocked = errors.New("the terminal is locked: another viewer holds the keyboard; ask for it with request")
	// ErrNotLocked refuses what needs a lock.
	ErrNotLocked = errors.New("the terminal is not locked: everybody who may type does")
	// ErrNoRequest refuses a grant or denial to nobody.
	ErrNoRequest = errors.New("no viewer asks for the keyboard")
	// ErrManyRequests is one viewer too many that asks.
	ErrManyRequests = fmt.Errorf("%d viewers ask for the keyboard already, which is the most", maxRequests)
	// ErrAction is an act that does not exist, or is not complete.
	ErrAction = errors.New("bad action")
	// ErrEnded refuses the keyboard of a program that has ended.
	ErrEnded = errors.New("the program has ended: there is nothing to type into")
)

// control says who types. The hub's lock guards it.
type control struct {
	holder   uint64 // viewer that alone types; 0 while the terminal is open
	key      string // of the holder, see Who.Key
	gone     *time.Timer
	requests []uint64 // viewers that ask, in the order in which they began
}

// Act is an act on the control of a terminal.
type Act struct {
	Action string // lock, unlock, request, grant or deny
	// By acts; nil is an administrator who is no viewer.
	By *Subscription
	// Viewer is whom it is granted or denied to; "" is who asked first. Without By also who locks or asks.
	Viewer string
}

// Control changes who types, and returns who does. Errors: ErrLooks for viewers that may only look, ErrLocked for
// others that do not hold a locked terminal, ErrNotLocked, ErrNoRequest, ErrManyRequests, ErrNoViewer, ErrEnded,
// ErrAction.
func (h *Hub) Control(a Act) (wire.Control, error) {
	h.mu.Lock()
	defer h.unlock()
	err := h.act(a)
	return h.viewers.control.wire(), err
}

// act is Control with the hub's lock held.
func (h *Hub) act(a Act) (err error) {
	c, by := &h.viewers.control, a.By
	if by == nil && a.Viewer != "" && (a.Action == "lock" || a.Action == "request") {
		if by, err = h.viewers.find(a.Viewer); err != nil {
			return err
		}
	}
	switch {
	case by != nil && by.closed:
		return ErrNoViewer
	case by != nil && !by.who.mayType():
		return ErrLooks
	case h.exit != nil && (a.Action == "lock" || a.Action == "request"):
		return ErrEnded
	}
	admin := by == nil || by.who.Role == RoleAdmin
	holds := by != nil && by.Viewer == c.holder
	switch a.Action {
	case "lock", "request":
		if by == nil {
			return fmt.Errorf("%w: %s needs a viewer, as ?as= or \"viewer\"", ErrAction, a.Action)
		}
		if a.Action == "lock" {
			return h.lockFor(by)
		}
		return h.request(by)
	case "unlock":
		if c.holder != 0 && !holds && !admin {
			return ErrLocked
		}
		if c.holder != 0 {
			h.hold(nil)
		}
		return nil
	case "grant", "deny":
		if c.holder == 0 {
			return ErrNotLocked
		}
		if !holds && !admin {
			return ErrLocked
		}
		return h.answerRequest(a)
	}
	return fmt.Errorf("%w %q: allowed are lock, unlock, request, grant, deny", ErrAction, a.Action)
}

// lockFor locks an open terminal. The hub's lock is held.
func (h *Hub) lockFor(by *Subscription) error {
	switch h.viewers.control.holder {
	case 0:
		h.hold(by)
		return nil
	case by.Viewer:
		return nil
	}
	return ErrLocked
}

// request has a viewer ask for the keyboard. The hub's lock is held.
func (h *Hub) request(by *Subscription) error {
	c := &h.viewers.control
	switch {
	case c.holder == 0:
		return ErrNotLocked
	case c.holder == by.Viewer || slices.Contains(c.requests, by.Viewer):
		return nil
	case len(c.requests) >= maxRequests:
		return ErrManyRequests
	}
	c.requests = append(c.requests, by.Viewer)
	h.viewers.note(newsControl, nil)
	return nil
}

// answerRequest gives the keyboard to a viewer, or denies it. The hub's lock is held.
func (h *Hub) answerRequest(a Act) error {
	c, id := &h.viewers.control, a.Viewer
	if id == "" {
		if len(c.requests) == 0 {
			return ErrNoRequest
		}
		id = viewerID(c.requests[0])
	}
	to, err := h.viewers.find(id)
	switch {
	case err != nil:
		return err
	case !to.who.mayType():
		return fmt.Errorf("%w: it cannot have the keyboard", ErrLooks)
	case a.Action == "grant":
		h.hold(to)
		return nil
	case !slices.Contains(c.requests, to.Viewer):
		return ErrNoRequest
	}
	c.drop(to.Viewer)
	h.viewers.note(newsControl, nil)
	return nil
}

// hold gives the keyboard to a viewer; nil opens the terminal to all. Who else asks goes on asking. The hub's lock is
// held.
func (h *Hub) hold(s *Subscription) {
	c := &h.viewers.control
	if c.gone != nil {
		c.gone.Stop()
		c.gone = nil
	}
	c.holder, c.key = 0, ""
	if s != nil {
		c.holder, c.key = s.Viewer, s.who.Key
		c.drop(s.Viewer)
	} else {
		c.requests = nil
	}
	h.typist.Store(c.holder)
	h.viewers.note(newsControl, nil)
	if h.hooks.Held != nil {
		h.hooks.Held(c.key)
	}
}

// drop forgets a request.
func (c *control) drop(viewer uint64) {
	c.requests = slices.DeleteFunc(slices.Clone(c.requests), func(n uint64) bool { return n == viewer })
}

// controlJoined makes a new viewer the holder that it was before. The hub's lock is held.
func (h *Hub) controlJoined(s *Subscription) {
	c := &h.viewers.control
	if c.holder != 0 && c.key != "" && c.key == s.who.Key && s.who.mayType() {
		h.hold(s)
	}
}

// controlLeft forgets a viewer that has gone. The hub's lock is held.
func (h *Hub) controlLeft(s *Subscription) {
	c := &h.viewers.control
	if n := len(c.requests); n > 0 {
		if c.drop(s.Viewer); len(c.requests) < n {
			h.viewers.note(newsControl, nil)
		}
	}
	if c.holder == s.Viewer {
		switch other := h.viewers.withKey(c.key); {
		case s.Kicked():
			h.hold(nil)
		case other != nil: // the same page in another tab
			h.hold(other)
		default:
			h.awaitHolder()
		}
	}
}

// withKey is a viewer that may type and has a key, nil for none.
func (v *viewers) withKey(key string) *Subscription {
	for _, s := range v.subs {
		if key != "" && s.who.Key == key && s.who.mayType() {
			return s
		}
	}
	return nil
}

// awaitHolder opens the terminal to all when its holder has not come back in time. The hub's lock is held.
func (h *Hub) awaitHolder() {
	c, gone := &h.viewers.control, h.viewers.control.holder
	c.gone = time.AfterFunc(holderGrace, func() {
		h.mu.Lock()
		defer h.unlock()
		if c.holder == gone && c.gone != nil {
			h.hold(nil)
		}
	})
}

// RestoreHolder locks the terminal for a viewer with a key that held it under the server before and comes back.
func (h *Hub) RestoreHolder(key string) {
	h.mu.Lock()
	defer h.unlock()
	c := &h.viewers.control
	if c.holder != 0 || key == "" {
		return
	}
	c.holder, c.key = nextOrder(), key
	h.typist.Store(c.holder)
	h.awaitHolder()
}

// wire is the control as the API has it.
func (c *control) wire() wire.Control {
	w := wire.Control{Mode: wire.ControlOpen, Requests: []string{}}
	if c.holder != 0 {
		id := viewerID(c.holder)
		w.Mode, w.Holder = wire.ControlLocked, &id
	}
	for _, n := range c.requests {
		w.Requests = append(w.Requests, viewerID(n))
	}
	return w
}

// MayType reports whether a viewer may type now, and notes that it does; by is nil for a caller that is none. It waits
// for nothing. Errors: ErrKicked, ErrLooks, ErrLocked.
func (h *Hub) MayType(by *Subscription) error {
	switch {
	case by == nil:
	case by.Kicked():
		return ErrKicked
	case !by.who.mayType():
		return ErrLooks
	}
	if only := h.typist.Load(); only != 0 && (by == nil || by.Viewer != only) {
		return ErrLocked
	}
	if by != nil {
		by.noteTyping()
	}
	return nil
}
