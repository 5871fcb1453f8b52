package stream

import (
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Bounds of what a program may make the hub keep or send besides output, in bytes.
const (
	maxTitle  = 1024     // a title or a path shown to viewers
	maxNotify = 4096     // a notification
	maxReply  = 64 << 10 // replies to the queries of one step; a program that asks more gets fewer
)

// pending has what the engine's effects collected during one step.
type pending struct {
	held      int             // bytes of an incomplete character before the step
	reply     []byte          // replies for the program, at most maxReply
	meta      wire.EventMeta  // changes that are not output; it points into the hub's stats
	hasMeta   bool            // meta is not empty
	clipboard *wire.Clipboard // the last write to the clipboard; nil for none
}

// connectEffects sets the engine's effects. They run inside the engine's methods, with the hub's
// lock held.
func (h *Hub) connectEffects() {
	*h.effects = vt.Effects{
		Reply: func(p []byte) {
			if len(h.pending.reply)+len(p) <= maxReply {
				h.pending.reply = append(h.pending.reply, p...)
			}
		},
		Bell: func() {
			h.stats.Bells++
			h.meta().Bell = true
		},
		Title: func(t string) {
			h.stats.Title = clip(t, maxTitle)
			h.meta().Title = &h.stats.Title
		},
		Cwd: func(host, p string) {
			if !h.ownHost(host) {
				return
			}
			h.stats.Cwd = clip(p, maxTitle)
			h.meta().Cwd = &h.stats.Cwd
		},
		Notify: func(n vt.Notification) {
			h.meta().Notify = &wire.Notification{Title: clip(n.Title, maxTitle), Body: clip(n.Body, maxNotify)}
		},
		Prompt: func(m vt.PromptMark) {
			h.stats.Mark, h.stats.changed = m, true
			if h.hooks.Marked != nil {
				h.hooks.Marked(m, h.seq+uint64(max(m.End-h.pending.held, 0)))
			}
		},
		Clipboard: func(selection string, data []byte) {
			h.pending.clipboard = &wire.Clipboard{Selection: selection, DataB64: data}
		},
	}
}

// meta is the event that collects the changes of one step: several bells in one step ring once.
func (h *Hub) meta() *wire.EventMeta {
	h.stats.changed, h.pending.hasMeta = true, true
	return &h.pending.meta
}

// currentMeta is everything that meta events carry and that lasts. The hub's lock is held.
func (h *Hub) currentMeta() *wire.EventMeta {
	m := &wire.EventMeta{Title: &h.stats.Title, Cwd: &h.stats.Cwd, Viewers: &h.viewers.visible,
		Size: &Size{Cols: h.cols, Rows: h.rows}}
	if h.viewers.owner != 0 {
		m.Owner = &h.viewers.owner
	}
	return m
}

// publishPending publishes what a step collected, at its end. The hub's lock is held.
func (h *Hub) publishPending() {
	if c := h.pending.clipboard; c != nil {
		h.pending.clipboard = nil
		h.viewers.publishClipboard(func() *Message { return metaMessage(h.id, &wire.EventMeta{Clipboard: c}) })
	}
	hasMeta := h.pending.hasMeta
	if hasMeta {
		h.viewers.publish(func() *Message { return metaMessage(h.id, &h.pending.meta) })
		h.pending.meta, h.pending.hasMeta = wire.EventMeta{}, false
	}
	if h.seq >= h.stats.measureAt {
		h.publishStats()
	} else {
		h.publishPosition()
	}
	h.changes.Notify()
	if hasMeta {
		h.notifyChanged()
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
