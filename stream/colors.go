package stream

import "github.com/evertty/evertty/vt"

// SetTheme notes the colours that the viewer draws with. Programs that ask are told these while the
// viewer's size counts, and while nobody's does. A viewer that has not said its colours changes
// nothing: else each new viewer would be reported as dark at first.
func (s *Subscription) SetTheme(t vt.Theme) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.closed || s.theme == t {
		return
	}
	s.theme = t
	s.hub.decide()
}

// useTheme has the program told the colours of s, those of the emulator when it is nil. A change
// that the program wants reported goes to Observe.Reply. The hub's lock is held.
func (h *Hub) useTheme(s *Subscription) {
	if h.engine == nil {
		return
	}
	var t vt.Theme
	if s != nil {
		t = s.theme
	}
	h.reply = nil
	h.engine.SetTheme(t)
	if len(h.reply) > 0 && h.observe.Reply != nil {
		h.observe.Reply(h.reply)
	}
	h.reply = nil
}
