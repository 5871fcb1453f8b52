package registry

import (
	"errors"
	"maps"
	"sync"

	"github.com/evertty/evertty/internal/datadir"
)

// damagedShell is the directory of a shell that cannot be recovered. It can only be removed.
type damagedShell struct {
	session string // the session of recovered terminals when unknown
	why     error
}

// damagedShells are the directories that no shell came back from, by key. Its lock is a leaf.
type damagedShells struct {
	mu    sync.Mutex
	byKey map[string]damagedShell
}

func (d *damagedShells) add(key string, one damagedShell) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byKey[key] = one
}

func (d *damagedShells) has(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, there := d.byKey[key]
	return there
}

func (d *damagedShells) all() map[string]damagedShell {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.byKey)
}

// remove removes the directories of a session's damaged shells, of all sessions for "".
func (d *damagedShells) remove(session string, store *datadir.Store) (err error) {
	for key, one := range d.all() {
		if session != "" && one.session != session {
			continue
		}
		e := store.RemoveShell(key)
		err = errors.Join(err, e)
		if e == nil {
			d.mu.Lock()
			delete(d.byKey, key)
			d.mu.Unlock()
		}
	}
	return err
}
