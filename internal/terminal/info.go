package terminal

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/stream"
)

// Info is the state of a terminal as the API shows it.
type Info struct {
	ID             string            `json:"id"`
	PTYID          string            `json:"ptyID"` // the same, under the name older clients read
	Name           string            `json:"name"`
	Session        string            `json:"session"`
	Cmd            []string          `json:"cmd"`
	Cwd            string            `json:"cwd"`                    // the last known, first that of the request
	CwdFallback    string            `json:"cwd_fallback,omitempty"` // where it should have started but could not
	Env            map[string]string `json:"env"`                    // as given at creation, without secrets
	Cols           int               `json:"cols"`
	Rows           int               `json:"rows"`
	Scrollback     int               `json:"scrollback"`
	Title          string            `json:"title"`
	State          State             `json:"state"`
	Exit           *stream.Exit      `json:"exit"`
	PID            int               `json:"pid"` // 0 when it does not run
	Generation     int               `json:"generation"`
	Viewers        int               `json:"viewers"`
	SizePolicy     stream.Policy     `json:"size_policy"`
	CreatedAt      time.Time         `json:"created_at"`
	LastActivityAt time.Time         `json:"last_activity_at"` // input, output or resize
	LastOutputAt   *time.Time        `json:"last_output_at"`
	Seq            uint64            `json:"seq"`
	AltScreen      bool              `json:"alt_screen"`
	BellCount      uint64            `json:"bell_count"`
	JournalBytes   int64             `json:"journal_bytes"` // on disk
	MemoryBytes    int64             `json:"memory_bytes"`
	DeletedAt      *time.Time        `json:"deleted_at,omitempty"`
	Damage         string            `json:"damage,omitempty"`
}

// firstGeneration is the number of a terminal's first process.
const firstGeneration = 1

// Info returns the state of the terminal. For one that came back from disk it has what the
// record says until somebody has asked for the screen. It never waits for the emulator.
func (t *Terminal) Info() Info {
	i := Info{ID: t.ID, PTYID: t.ID, Name: t.spec.Name, Session: t.spec.Session, Cmd: t.spec.Cmd,
		Env: thread.HideSecrets(t.Env()), Scrollback: *t.spec.Scrollback, Generation: t.generation,
		SizePolicy: t.spec.SizePolicy, CreatedAt: t.created}
	t.mu.Lock()
	i.State, i.Exit, i.LastActivityAt = t.state, t.exit, t.lastActivity
	i.Cwd, i.CwdFallback = t.cwd.dir, t.fallback
	if !t.deleted.IsZero() {
		d := t.deleted
		i.DeletedAt = &d
	}
	t.mu.Unlock()
	i.Damage = t.allDamage()
	i.JournalBytes = t.diskBytes.Load()
	if t.journal != nil { // measured when the last snapshot was written
		i.JournalBytes = max(i.JournalBytes, t.journal.Bytes())
	}
	t.addScreen(&i)
	if i.State == StateRunning && t.process != nil { // else it is about to start
		i.PID = t.process.PID()
		i.Cwd = t.RefreshCwd()
	}
	return i
}

// Env is the environment as given at creation, with secrets; empty for a deleted terminal. The caller owns it.
func (t *Terminal) Env() map[string]string {
	if t.spec.Env == nil || t.Deleted() {
		return map[string]string{}
	}
	return maps.Clone(t.spec.Env)
}

// addScreen adds the state of the screen.
func (t *Terminal) addScreen(i *Info) {
	f := t.facts()
	i.Cols, i.Rows, i.Title, i.Seq, i.BellCount, i.Viewers = f.Cols, f.Rows, f.Title, f.Seq, f.Bells, f.Viewers
	i.AltScreen, i.MemoryBytes = f.AltScreen, int64(f.Memory)
	if !f.Output.IsZero() {
		out := f.Output.UTC()
		i.LastOutputAt = &out
		if out.After(i.LastActivityAt) {
			i.LastActivityAt = out
		}
	}
}

// ListJSON is the JSON array of all listed terminals.
func (m *Registry) ListJSON() []byte {
	items := []Info{}
	for _, t := range m.List("") {
		items = append(items, t.Info())
	}
	b, _ := json.Marshal(items) // cannot fail: strings, numbers and times
	return b
}
