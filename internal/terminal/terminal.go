package terminal

import (
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/owner"
)

// Terminal is one live or ended terminal: one process of it. A restart makes a new Terminal
// under the same id. All methods are safe for concurrent use.
type Terminal struct {
	// What it is. It never changes.
	ID          string
	Data        any // belongs to the hooks, see Hooks.NewData
	registry    *Registry
	spec        Spec // as it was made; Spec has what Registry.Change has changed since
	created     time.Time
	generation  int // number of the process, from 1
	generations *generations

	// What Registry.Change changes. It is replaced with Registry.mu held, which also guards claimed.
	given   atomic.Pointer[Spec]
	claimed string // the name before a change that is not complete yet: nobody else gets it
	counted bool   // see running; guarded by Registry.mu

	holder holder

	// Each part has its own locks. Where two are held: files.saving, then status.mu.
	program
	screen
	files
	status
}

// In reports whether the terminal belongs to a session; every one belongs to "".
func (t *Terminal) In(session string) bool { return owner.In(t.spec.Session, session) }

// touch notes activity of a user.
func (t *Terminal) touch() {
	t.mu.Lock()
	t.lastActivity = time.Now()
	t.mu.Unlock()
	t.changed()
	if h := t.now(); h != nil {
		h.Wake()
	}
}

// Spec is what the terminal was created from, with what was changed since; Cols and Rows are those at creation. Its
// maps and slices are the terminal's.
func (t *Terminal) Spec() Spec { return *t.given.Load() }

// Thread is the id of the terminal's thread, which is the name of its session.
func (t *Terminal) Thread() string { return t.spec.Session }
