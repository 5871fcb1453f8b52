package terminal

import (
	"cmp"
	"encoding/json"
	"maps"

	"github.com/evertty/evertty/wire"
)

// firstGeneration is the number of a terminal's first process.
const firstGeneration = 1

// Wire is the state of the terminal as the API shows it, without the secrets of Env. The screen of
// one that came back from disk is as in its record until the first call of Hub. It never waits for
// the emulator.
func (t *Terminal) Wire() wire.Terminal {
	w := t.wire()
	if w.PID != 0 {
		w.Cwd = t.RefreshCwd()
	}
	return w
}

// Listed is Wire for a list: the directory of a quiet program may be a second old.
func (t *Terminal) Listed() wire.Terminal {
	w := t.wire()
	if w.PID != 0 {
		w.Cwd = t.recentCwd(w.LastActivityAt)
	}
	return w
}

// wire is Wire with the last known directory.
func (t *Terminal) wire() wire.Terminal {
	s := t.Spec()
	labels := s.Labels
	if labels == nil {
		labels = wire.Labels{}
	}
	w := wire.Terminal{ID: t.ID, PTYID: t.ID, Name: s.Name, Session: s.Session, Cmd: s.Cmd, Labels: labels,
		Env: t.registry.hooks.HideSecrets(t.Env()), Scrollback: *s.Scrollback, Generation: t.generation,
		SizePolicy: s.SizePolicy, Restore: s.Restore, CreatedAt: t.created,
		Sandbox: cmp.Or(s.Sandbox, wire.SandboxNone), Limits: s.Limits, LimitsBy: t.limitsBy}
	t.mu.Lock()
	w.State, w.Exit, w.LastActivityAt = t.state, t.exit, t.lastActivity
	w.Cwd, w.CwdFallback, w.DeletedAt = t.cwd.dir, t.fallback, t.deleted
	t.mu.Unlock()
	w.Damage = t.allDamage()
	w.JournalBytes = t.diskBytes.Load()
	if t.journal != nil { // diskBytes is as of the last snapshot
		w.JournalBytes = max(w.JournalBytes, t.journal.Bytes())
	}
	f := t.facts()
	w.Cols, w.Rows, w.Seq, w.BellCount, w.Viewers = f.Cols, f.Rows, f.Seq, f.Bells, f.Viewers
	w.Title, w.AltScreen, w.MemoryBytes = cmp.Or(s.Title, f.Title), f.AltScreen, int64(f.Memory)
	w.Parked = t.Parked()
	if !f.Output.IsZero() {
		out := f.Output.UTC()
		w.LastOutputAt, w.LastActivityAt = &out, maxTime(w.LastActivityAt, out)
	}
	if w.State == StateRunning && t.process != nil { // else it is about to start
		w.PID = t.process.PID()
	}
	return w
}

// Env is the environment as given at creation, with secrets; empty for a deleted terminal. The caller owns it.
func (t *Terminal) Env() map[string]string {
	if t.spec.Env == nil || t.Deleted() {
		return map[string]string{}
	}
	return maps.Clone(t.spec.Env)
}

// ListJSON is the JSON array of the listed terminals of a session, of all for ""; with id of that one alone. show
// changes what is shown of each; nil shows all.
func (r *Registry) ListJSON(session, id string, show func(wire.Terminal) wire.Terminal) []byte {
	items := []wire.Terminal{}
	for _, t := range r.List(session) {
		if id != "" && id != t.ID {
			continue
		}
		w := t.Listed()
		if show != nil {
			w = show(w)
		}
		items = append(items, w)
	}
	b, _ := json.Marshal(items) // cannot fail: strings, numbers and times
	return b
}
