package stream

import (
	"time"

	"github.com/evertty/evertty/wire"
)

const (
	// presencePace is the shortest time between two lists of who is there.
	presencePace = time.Second
	// presenceDelay is how long a list waits for more of a change: viewers that come at once are in one.
	presenceDelay = 50 * time.Millisecond
	// maxPresent is how many viewers a list names: more are a number, which no list of names would be read for.
	maxPresent = 32
	// typingLasts is how long a viewer counts as typing after a key.
	typingLasts = 2 * time.Second
)

// presence is when viewers are told who is there. The hub's lock guards it.
type presence struct {
	told time.Time
	due  bool // tellPresence is about to be called
	ends bool // typingEnds is about to be called
	many bool // it was told of more than one viewer last
}

// noteTyping notes that the viewer types. The first key of a while is told to the others; all others cost a look at the
// clock.
func (s *Subscription) noteTyping() {
	now := time.Now()
	before := s.typedAt.Swap(now.UnixNano())
	if now.Sub(time.Unix(0, before)) > typingLasts && s.hub.crowd.Load() > 1 {
		go s.hub.notePresence() // a step may hold the lock
	}
}

// types reports whether the viewer counts as typing.
func (s *Subscription) types(now time.Time) bool {
	return now.UnixNano()-s.typedAt.Load() < int64(typingLasts)
}

func (h *Hub) notePresence() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.presenceDue()
}

// presenceDue has all viewers told who is there, soon. The hub's lock is held.
func (h *Hub) presenceDue() {
	p := &h.viewers.presence
	if p.due || h.exit != nil {
		return
	}
	p.due = true
	time.AfterFunc(max(presenceDelay, presencePace-time.Since(p.told)), h.tellPresence)
}

// tellPresence tells the viewers, and again when somebody stops to type.
func (h *Hub) tellPresence() {
	h.mu.Lock()
	defer h.unlock()
	p, now := &h.viewers.presence, time.Now()
	p.told, p.due = now, false
	alone := len(h.viewers.subs) <= 1
	if h.exit != nil || alone && !p.many {
		return // who is alone knows
	}
	p.many = !alone
	h.viewers.note(newsPresence, nil)
	for _, s := range h.viewers.subs {
		if s.typing = s.types(now); s.typing && !p.ends && h.viewers.visible <= maxPresent {
			p.ends = true
			time.AfterFunc(typingLasts, h.typingEnds)
		}
	}
}

// typingEnds tells the viewers when another one types than they were told.
func (h *Hub) typingEnds() {
	h.mu.Lock()
	defer h.unlock()
	p, now, goesOn := &h.viewers.presence, time.Now(), false
	p.ends = false
	for _, s := range h.viewers.subs {
		types := s.types(now)
		if types != s.typing {
			h.presenceDue()
			return
		}
		goesOn = goesOn || types
	}
	if goesOn {
		p.ends = true
		time.AfterFunc(typingLasts, h.typingEnds)
	}
}

// present says who is there. The hub's lock is held.
func (h *Hub) present() wire.Presence {
	v := &h.viewers
	if v.visible > maxPresent {
		return wire.PresenceOf(v.visible)
	}
	now, list := time.Now(), []wire.PresentViewer{}
	for _, s := range v.subs {
		if !s.hidden {
			list = append(list, wire.PresentViewer{ID: s.ID(), Name: s.who.Name, Role: string(s.who.role()),
				Typing: s.types(now)})
		}
	}
	return wire.PresenceOf(list)
}

func (w Who) role() Role {
	if w.Role == "" {
		return RoleRead
	}
	return w.Role
}

// ViewerList lists the viewers, hidden ones too, and says who types.
func (h *Hub) ViewerList() wire.ViewerList {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := wire.ViewerList{Viewers: make([]wire.Viewer, 0, len(h.viewers.subs)), Control: h.viewers.control.wire()}
	for _, s := range h.viewers.subs {
		list.Viewers = append(list.Viewers, s.wire())
	}
	return list
}

// wire is the viewer as the API has it. The hub's lock is held.
func (s *Subscription) wire() wire.Viewer {
	h := s.hub
	v := wire.Viewer{ID: s.ID(), Name: s.who.Name, Role: string(s.who.role()), Client: s.who.Client,
		Cols: s.request.Cols, Rows: s.request.Rows, ConnectedAt: s.came.UTC(), Resyncs: s.resyncs,
		Owner: h.viewers.owner == s.Viewer, Hidden: s.hidden}
	if at := s.taken; at < h.applied() {
		v.LagBytes = h.applied() - at
	}
	if at := s.typedAt.Load(); at != 0 {
		typing := time.Unix(0, at).UTC()
		v.TypingAt = &typing
	}
	return v
}
