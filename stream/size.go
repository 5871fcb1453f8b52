package stream

import (
	"fmt"

	"github.com/evertty/evertty/vt"
)

// Policy says whose wish decides the size of a terminal with several viewers.
type Policy string

// The policies. A resize that is asked for through the API always happens.
const (
	PolicyLatest   Policy = "latest"   // who typed, focused or resized last
	PolicyOwner    Policy = "owner"    // who has been watching longest
	PolicySmallest Policy = "smallest" // what fits on every viewer's screen
	PolicyLargest  Policy = "largest"  // the largest; others scroll
	PolicyFixed    Policy = "fixed"    // nobody
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

// minCols and minRows are the smallest size a viewer's wish can cause: a page
// that is still laying itself out must not squeeze everybody's screen.
const (
	minCols = 20
	minRows = 5
)

// wish is the size that a viewer would like.
type wish struct {
	cols, rows int    // 0 when it has none
	touched    uint64 // grows with each act of any viewer; larger is later
}

// Policy is whose wish decides.
func (h *Hub) Policy() Policy { return h.policy }

// Wish notes the size that the viewer would like, or with 0 only that it was
// active. It returns the size the terminal should have now.
func (s *Subscription) Wish(cols, rows int) Size {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.closed {
		return Size{h.cols, h.rows}
	}
	if cols > 0 && rows > 0 {
		s.wish.cols, s.wish.rows = max(cols, minCols), max(rows, minRows)
	}
	s.wish.touched = order.Add(1)
	return h.decide()
}

// Fit is the size that the remaining viewers' wishes make; the size as it is
// when they make none.
func (h *Hub) Fit() Size {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.decide()
}

// decide applies the policy and tells viewers when another one decides now.
func (h *Hub) decide() Size {
	size, owner := Size{h.cols, h.rows}, uint64(0)
	var best, colored *Subscription
	for _, s := range h.subs {
		if s.decides() && (best == nil || h.prefers(s, best)) {
			best = s
		}
		if !s.hidden && s.theme != (vt.Theme{}) && (colored == nil || h.prefersColors(s, colored)) {
			colored = s
		}
	}
	if best != nil && h.policy != PolicyFixed {
		size, owner = Size{best.wish.cols, best.wish.rows}, best.Viewer
		if h.policy == PolicySmallest || h.policy == PolicyLargest {
			size = h.extreme(size)
		}
	}
	h.useTheme(colored)
	if owner != h.owner {
		h.owner = owner
		h.publish(func() *Message { return metaMessage(h.id, Meta{Owner: owner, Size: &size}) })
	}
	return size
}

// decides reports whether the viewer's size counts. The hub's lock is held.
func (s *Subscription) decides() bool { return s.wish.cols != 0 && !s.hidden }

// prefers reports whether a decides rather than b.
func (h *Hub) prefers(a, b *Subscription) bool {
	if h.policy == PolicyOwner {
		return a.Viewer < b.Viewer
	}
	return a.wish.touched > b.wish.touched
}

// prefersColors reports whether the colours of a are told rather than those of b: one whose size counts comes before
// one without a size, as in a window that does not know its own.
func (h *Hub) prefersColors(a, b *Subscription) bool {
	if a.decides() != b.decides() {
		return a.decides()
	}
	return h.prefers(a, b)
}

// extreme is the smallest or largest of all wishes, columns and rows apart.
func (h *Hub) extreme(size Size) Size {
	pick := func(a, b int) int {
		if h.policy == PolicySmallest {
			return min(a, b)
		}
		return max(a, b)
	}
	for _, s := range h.subs {
		if s.decides() {
			size = Size{pick(size.Cols, s.wish.cols), pick(size.Rows, s.wish.rows)}
		}
	}
	return size
}
