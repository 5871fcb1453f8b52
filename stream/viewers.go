package stream

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/wire"
)

// presenceWake is the number of viewers up to which a change of their number wakes them. More
// viewers learn it with their next message: a storm of n reconnects would cost n*n wake-ups.
const presenceWake = 16

// viewers are the subscriptions of a hub, and decide whose size counts. The hub's lock guards it.
//
// # Delivery
//
// An event reaches a viewer in one of three ways:
//
//   - In the queue (publish): events with a place in the output, that is data, resize, exit and
//     the meta event of a step. A viewer that becomes stale loses its queue, so the snapshot or
//     the meta event behind it (Hub.currentMeta) must say the same again.
//   - By a flag (note): a value that Poll can compute from the hub, of which only the newest
//     counts. It costs nothing however often it changes. See news.
//   - In a slot (publishClipboard): a value that is nowhere in the hub's state, of which only the newest
//     counts. It survives a snapshot and can fill no queue. The clipboard.
//
// A new event takes the queue when it belongs to a position of the output, else the flag when the
// hub keeps its value, else a slot.
type viewers struct {
	policy   Policy          // see Hub.SetPolicy
	subs     []*Subscription // oldest first; its elements never change, so that unlock may read them without the lock
	visible  int             // subs that are not hidden
	owner    uint64          // viewer whose size counts, 0 for none
	control  control         // who types
	presence presence
	woken    bool // one of subs is to be woken, see Hub.unlock
}

func (v *viewers) add(s *Subscription) {
	v.subs = append(v.subs, s)
	v.visible++
}

func (v *viewers) remove(s *Subscription) {
	v.subs = slices.DeleteFunc(slices.Clone(v.subs), func(x *Subscription) bool { return x == s })
	if !s.hidden {
		v.visible--
	}
	s.hub.settled.Store(0)
}

// publish queues a message for all viewers that are not stale. build is called only when there is
// one, and once.
func (v *viewers) publish(build func() *Message) {
	var m *Message
	for _, s := range v.subs {
		switch {
		case s.stale != "":
			continue
		case s.reads:
			s.due()
			continue
		case s.lag.behind:
			s.showsLater()
			continue
		}
		if m == nil {
			m = build()
		}
		m.holders.Add(1) // also where push drops it: then nobody releases it
		s.push(m)
	}
}

// publishClipboard puts a write to the clipboard into the slot of all viewers that may type. It
// replaces a write that the viewer has not taken.
func (v *viewers) publishClipboard(build func() *Message) {
	build = sync.OnceValue(build)
	for _, s := range v.subs {
		if s.who.mayType() && !s.exitQueued && !s.reads {
			s.clipboard = build()
			s.due()
		}
	}
}

// makeStale makes all viewers stale that are not.
func (v *viewers) makeStale(r Reason) {
	for _, s := range v.subs {
		switch {
		case s.stale != "":
		case s.lag.behind:
			s.showsLater()
		default:
			s.makeStale(r)
		}
	}
}

// news are values of the hub that have changed, of which only the newest counts.
type news uint8

const (
	newsViewers  news = 1 << iota // the number of viewers
	newsPresence                  // who is there
	newsControl                   // who types
	newsInput                     // what the line discipline does with input
)

// note sets the flag that something changed, for everybody but one.
func (v *viewers) note(n news, except *Subscription) {
	for _, s := range v.subs {
		if s == except || s.reads || n == newsInput && !s.who.mayType() {
			continue
		}
		s.news |= n
		if len(v.subs) <= presenceWake || n == newsControl || n == newsPresence && v.visible <= maxPresent {
			s.due()
		}
	}
}

// withNews adds news to an event. The hub's lock is held.
func (h *Hub) withNews(m *wire.EventMeta, n news) *wire.EventMeta {
	if n&newsViewers != 0 {
		m.Viewers = &h.viewers.visible
	}
	if n&newsPresence != 0 {
		m.Presence = h.present()
	}
	if n&newsControl != 0 {
		c := h.viewers.control.wire()
		m.Control = &c
	}
	if n&newsInput != 0 {
		m.Input = h.input
	}
	return m
}

// standing is what a new viewer is told behind its first snapshot. The hub's lock is held.
func (h *Hub) standing(s *Subscription) (n news) {
	if h.viewers.control.holder != 0 {
		n |= newsControl
	}
	if h.input != nil && s.who.mayType() {
		n |= newsInput
	}
	return n
}

// inputDelay is how long behind a key or output the hub looks at the line discipline: a program that prints a question
// and then turns the echo off has done so. The echo of a key comes before what it changes.
const inputDelay = 20 * time.Millisecond

// InputMayChange has the hub look soon at what the line discipline does with what is typed, which programs change
// without a word. It waits for nothing.
func (h *Hub) InputMayChange() {
	if h.hooks.InputMode == nil || h.crowd.Load() == 0 || h.inputDue.Swap(true) {
		return
	}
	time.AfterFunc(inputDelay, h.lookAtInput)
}

// lookAtInput tells the viewers what has changed.
func (h *Hub) lookAtInput() {
	h.looking.Lock() // else an older look may be told behind a newer one
	defer h.looking.Unlock()
	h.inputDue.Store(false)
	m, ok := h.hooks.InputMode()
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.unlock()
	if h.input == nil || *h.input != m {
		h.input = &m
		h.viewers.note(newsInput, nil)
	}
}

// wakeGroup is up to how many viewers the goroutine that has the events wakes all by itself. Each may be a write to a
// socket of some 10 us.
const wakeGroup = 16

// wakeAll wakes those of a hub's viewers that something has come for: more than wakeGroup in as many groups as
// processors can work on, all but one of them by other goroutines.
func wakeAll(subs []*Subscription) {
	groups := min(runtime.GOMAXPROCS(0), (len(subs)+wakeGroup-1)/wakeGroup)
	for ; groups > 1; groups-- {
		n := len(subs) / groups
		go wakeEach(subs[:n])
		subs = subs[n:]
	}
	wakeEach(subs)
}

func wakeEach(subs []*Subscription) {
	for _, s := range subs {
		if s.isDue.CompareAndSwap(true, false) {
			s.wakeUp()
		}
	}
}

// due has Hub.unlock wake the viewer. The hub's lock is held.
func (s *Subscription) due() {
	s.isDue.Store(true)
	s.hub.viewers.woken = true
}

// wakeUp tells the viewer's connection that something waits for Poll. The hub's lock is not held.
func (s *Subscription) wakeUp() {
	if s.ready != nil {
		s.ready()
		return
	}
	s.wake.Set()
}
