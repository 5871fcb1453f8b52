package stream

import (
	"fmt"

	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Policy decides the size of a terminal with several viewers, by the sizes that they request. A
// resize through the API always happens.
type Policy string

// The policies.
const (
	PolicyLatest   Policy = "latest"   // the viewer who typed, focused or resized last
	PolicyOwner    Policy = "owner"    // the viewer who has been watching longest
	PolicySmallest Policy = "smallest" // fits on every viewer's screen
	PolicyLargest  Policy = "largest"  // the largest; others scroll
	PolicyFixed    Policy = "fixed"    // no viewer
)

// ParsePolicy reads a policy's name; "" is PolicyLatest.
func ParsePolicy(s string) (Policy, error) {
	switch p := Policy(s); p {
	case "":
		return PolicyLatest, nil
	case PolicyLatest, PolicyOwner, PolicySmallest, PolicyLargest, PolicyFixed:
		return p, nil
	}
	return "", fmt.Errorf("size_policy %q: allowed are latest, owner, smallest, largest, fixed", s)
}

// minCols and minRows are the smallest size that counts of a request: a page that is still laying
// itself out must not squeeze everybody's screen.
const (
	minCols = 20
	minRows = 5
)

// request is the size that a viewer requested.
type request struct {
	Size          // zero for none
	active uint64 // grows with each act of any viewer; larger is later
}

// Policy is the policy of the terminal.
func (h *Hub) Policy() Policy {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.viewers.policy
}

// SetPolicy changes the policy and reports whether it was another one; see EffectiveSize.
func (h *Hub) SetPolicy(p Policy) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settled.Store(0)
	changed = h.viewers.policy != p
	h.viewers.policy = p
	return changed
}

// RequestSize notes that the viewer was active and, unless cols or rows is 0, the size that it
// requests. It returns the size that the terminal should have now.
func (s *Subscription) RequestSize(cols, rows int) Size {
	h := s.hub
	if cols == 0 && rows == 0 && h.settled.Load() == s.Viewer { // a key waits for no step
		f := h.Stats()
		return Size{Cols: f.Cols, Rows: f.Rows}
	}
	h.mu.Lock()
	defer h.unlock()
	if s.closed {
		return Size{Cols: h.cols, Rows: h.rows}
	}
	if cols > 0 && rows > 0 {
		s.request.Size = Size{Cols: max(cols, minCols), Rows: max(rows, minRows)}
	}
	s.request.active = nextOrder()
	size := h.applyPolicy()
	if h.settled.Store(0); size == (Size{Cols: h.cols, Rows: h.rows}) {
		h.settled.Store(s.Viewer)
	}
	return size
}

// EffectiveSize is the size that the viewers' requests make; without requests the current size.
func (h *Hub) EffectiveSize() Size {
	h.mu.Lock()
	defer h.unlock()
	return h.applyPolicy()
}

// applyPolicy returns the size that the terminal should have and sets the colours that its program
// gets. It publishes when another viewer decides now. The hub's lock is held.
func (h *Hub) applyPolicy() Size {
	v := &h.viewers
	size, owner := v.choose(Size{Cols: h.cols, Rows: h.rows})
	h.setTheme(v.theme())
	if owner != v.owner {
		v.owner = owner
		m := &wire.EventMeta{Size: &size}
		if owner != 0 {
			m.Owner = &owner
		}
		v.publish(func() *Message { return metaMessage(h.id, m) })
	}
	return size
}

// choose applies the policy to the requests. Without a viewer who decides, the size is current and
// owner 0.
func (v *viewers) choose(current Size) (size Size, owner uint64) {
	best := v.first(Policy.prefers, (*Subscription).decides)
	if best == nil || v.policy == PolicyFixed {
		return current, 0
	}
	size = best.request.Size
	for _, s := range v.subs {
		switch r := s.request; {
		case !s.decides():
		case v.policy == PolicySmallest:
			size = Size{Cols: min(size.Cols, r.Cols), Rows: min(size.Rows, r.Rows)}
		case v.policy == PolicyLargest:
			size = Size{Cols: max(size.Cols, r.Cols), Rows: max(size.Rows, r.Rows)}
		}
	}
	return size, best.Viewer
}

// theme is the colours of the viewer who decides; the zero value when no viewer has set colours.
func (v *viewers) theme() vt.Theme {
	s := v.first(Policy.prefersTheme, func(s *Subscription) bool { return !s.hidden && s.theme != vt.Theme{} })
	if s == nil {
		return vt.Theme{}
	}
	return s.theme
}

// first is the preferred viewer of those that qualify, nil for none.
func (v *viewers) first(prefers func(p Policy, a, b *Subscription) bool, qualifies func(*Subscription) bool,
) (best *Subscription) {
	for _, s := range v.subs {
		if qualifies(s) && (best == nil || prefers(v.policy, s, best)) {
			best = s
		}
	}
	return best
}

// decides reports whether the viewer's size counts. The hub's lock is held.
func (s *Subscription) decides() bool { return s.request.Cols != 0 && !s.hidden }

// prefers reports whether a decides rather than b.
func (p Policy) prefers(a, b *Subscription) bool {
	if p == PolicyOwner {
		return a.Viewer < b.Viewer
	}
	return a.request.active > b.request.active
}

// prefersTheme reports whether the colours of a count rather than b's. A viewer whose size counts
// comes before one without a size, such as a window that does not know its own.
func (p Policy) prefersTheme(a, b *Subscription) bool {
	if a.decides() != b.decides() {
		return a.decides()
	}
	return p.prefers(a, b)
}

// SetTheme sets the colours that the viewer draws with. Programs that ask get the colours of the
// viewer whose size counts, else of any viewer that has set them. The zero value sets none: else
// each new viewer would be reported as dark at first.
func (s *Subscription) SetTheme(t vt.Theme) {
	h := s.hub
	h.mu.Lock()
	defer h.unlock()
	if s.closed || s.theme == t {
		return
	}
	s.theme = t
	h.applyPolicy()
}

// setTheme sets the colours that the program gets when it asks; the zero value are the emulator's.
// A change that the program wants reported goes to Hooks.Reply. The hub's lock is held.
func (h *Hub) setTheme(t vt.Theme) {
	if h.engine == nil {
		return
	}
	h.pending.reply = nil
	h.engine.SetTheme(t)
	if len(h.pending.reply) > 0 && h.hooks.Reply != nil {
		h.hooks.Reply(h.pending.reply)
	}
	h.pending.reply = nil
}
