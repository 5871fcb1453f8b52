package terminal

import (
	"sync"

	"github.com/evertty/evertty/stream"
)

// holder is who alone types in a locked terminal, by stream.Who.Key, as the disk has it: a viewer that comes back after
// a restart of the server is the holder still.
type holder struct {
	mu   sync.Mutex // guards key
	key  string
	file sync.Mutex // held while the file is written; mu is not
	due  bool       // keepHolder is about to read key; guarded by mu
}

// holderChanged notes the key of the holder, "" without one. It returns at once.
func (t *Terminal) holderChanged(key string) {
	t.holder.mu.Lock()
	due := t.holder.due
	t.holder.key, t.holder.due = key, true
	t.holder.mu.Unlock()
	if !due {
		t.registry.life.TryGo(t.keepHolder) // a server that ends has said so to its viewers
	}
}

// keepHolder writes the newest holder.
func (t *Terminal) keepHolder() {
	t.holder.file.Lock()
	defer t.holder.file.Unlock()
	t.holder.mu.Lock()
	key := t.holder.key
	t.holder.due = false
	t.holder.mu.Unlock()
	_ = t.registry.cfg.Store.SaveHolder(t.ID, []byte(key)) // else the next server opens the terminal to all
}

// MayType is stream.Hub.MayType. It does not wait for a screen that is not there yet: there are no viewers then, and
// one that held the keyboard under the server before may come back.
func (t *Terminal) MayType(by *stream.Subscription) error {
	if h := t.now(); h != nil {
		return h.MayType(by)
	}
	if key, err := t.registry.cfg.Store.LoadHolder(t.ID); err == nil && len(key) > 0 {
		return stream.ErrLocked
	}
	return nil
}

// Viewer is stream.Hub.Viewer, and does not wait either.
func (t *Terminal) Viewer(id string) (*stream.Subscription, error) {
	if h := t.now(); h != nil {
		return h.Viewer(id)
	}
	return nil, stream.ErrNoViewer
}

// resumeHolder locks the terminal for who held it under the server before.
func (t *Terminal) resumeHolder(hub *stream.Hub) {
	if key, err := t.registry.cfg.Store.LoadHolder(t.ID); err == nil {
		hub.RestoreHolder(string(key))
	}
}
