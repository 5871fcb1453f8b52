package terminal

import (
	"time"
)

// Terminal is one live or ended terminal: one process of it. A restart makes a new Terminal
// under the same id. All methods are safe for concurrent use.
type Terminal struct {
	// What it is. It never changes.
	ID          string
	Data        any // belongs to the hooks, see Hooks.NewData
	registry    *Registry
	spec        Spec // Cols and Rows are those at creation
	created     time.Time
	generation  int // number of the process, from 1
	generations *generations

	// Each part has its own locks. Where two are held: files.saving, then status.mu.
	program
	screen
	files
	status
}

// In reports whether the terminal belongs to a session; every one belongs to "".
func (t *Terminal) In(session string) bool { return session == "" || t.spec.Session == session }

// touch notes activity of a user.
func (t *Terminal) touch() {
	t.mu.Lock()
	t.lastActivity = time.Now()
	t.mu.Unlock()
	t.changed()
}

// Spec is what the terminal was created from. Its maps and slices are the terminal's.
func (t *Terminal) Spec() Spec { return t.spec }

// Thread is the id of the terminal's thread, which is the name of its session.
func (t *Terminal) Thread() string { return t.spec.Session }
