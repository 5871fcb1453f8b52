package stream

import "github.com/evertty/evertty/vt"

// Bounds of what a program may make the hub keep or send besides output.
const (
	maxTitle  = 1024     // bytes of a title or a path shown to viewers
	maxNotify = 4096     // bytes of a notification
	maxReply  = 64 << 10 // bytes of answers to one chunk of output; a program that asks more gets fewer
)

// listen connects the emulator's effects. They run inside Write, under the lock.
func (h *Hub) listen() {
	h.effects = vt.Effects{
		Reply: func(p []byte) {
			if len(h.reply)+len(p) <= maxReply {
				h.reply = append(h.reply, p...)
			}
		},
		Bell: func() {
			h.facts.Bells++
			h.change().Bell = true
		},
		Title: func(t string) {
			h.facts.Title = clip(t, maxTitle)
			h.change().Title = &h.facts.Title
		},
		Cwd: func(host, p string) {
			if !h.ownHost(host) {
				return
			}
			h.facts.Cwd = clip(p, maxTitle)
			h.change().Cwd = &h.facts.Cwd
		},
		Notify: func(n vt.Notification) {
			h.change().Notify = &vt.Notification{Title: clip(n.Title, maxTitle), Body: clip(n.Body, maxNotify)}
		},
		Prompt: func(m vt.PromptMark) {
			h.facts.Mark, h.learned = m, true
			if h.observe.Marked != nil {
				h.observe.Marked(m, h.seq+uint64(max(m.End-h.held, 0)))
			}
		},
		Clipboard: func(selection string, data []byte) { h.clipboard = &Clipboard{selection, data} },
	}
}

// change is the note of what one Write changed besides the screen: several
// bells in one chunk ring once.
func (h *Hub) change() *Meta {
	h.learned = true
	if h.news == nil {
		h.news = &Meta{}
	}
	return h.news
}

// standing is everything that meta events say and that lasts.
func (h *Hub) standing() Meta {
	return Meta{Title: &h.facts.Title, Cwd: &h.facts.Cwd, Viewers: new(h.viewers), Owner: h.owner,
		Size: &Size{h.cols, h.rows}}
}

// offer gives the last write to the clipboard to the viewers that may type. One that
// has not taken the one before gets the newer alone, so that a program that writes
// without end fills no queue.
func (h *Hub) offer() {
	c := h.clipboard
	h.clipboard = nil
	var m *Message
	for _, s := range h.subs {
		if !s.types || s.ended {
			continue
		}
		if m == nil {
			m = metaMessage(h.id, Meta{Clipboard: c})
		}
		s.clipboard = m
		wake(s.wake)
	}
}

// tell publishes the collected changes at the end of a Write.
func (h *Hub) tell() {
	if h.clipboard != nil {
		h.offer()
	}
	news := h.news
	if news != nil {
		h.news = nil
		h.publish(func() *Message { return metaMessage(h.id, *news) })
	}
	if h.learned || h.seq >= h.measureAt {
		h.show()
	} else {
		h.showPosition()
	}
	if len(h.watchers) > 0 {
		h.wakeWatchers()
	}
	if news != nil {
		h.changed()
	}
}

// clip cuts s to at most n bytes, never inside a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}
