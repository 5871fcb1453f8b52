package terminal

import (
	"cmp"
	"errors"
	"strings"

	"github.com/evertty/evertty/internal/datadir"
)

// addLines returns text with those lines of err that it does not have yet.
func addLines(text string, err error) string {
	if err == nil {
		return text
	}
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.Contains("\n"+text+"\n", "\n"+line+"\n") {
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += line
	}
	return text
}

// allDamage is the damage of the files when they were read, and what the journal has lost or
// found damaged since.
func (f *files) allDamage() string {
	f.t.mu.Lock()
	read := f.t.damage
	if f.t.restoreFailure != "" {
		read = addLines(read, errors.New(f.t.restoreFailure))
	}
	f.t.mu.Unlock()
	if j := cmp.Or(f.journal, f.endedJournal.opened.Load()); j != nil {
		return addLines(read, j.Losses())
	}
	return read
}

// inspectEnded inspects the terminals that came back ended, one after the other, so that
// damage is known before somebody asks for a screen.
func (r *Registry) inspectEnded() {
	for _, t := range r.All() {
		if r.ctx.Err() != nil {
			return
		}
		if t.process == nil && t.now() == nil {
			t.inspect()
		}
	}
}

// inspect reads the snapshot and the indexes of one terminal and notes their damage.
func (f *files) inspect() {
	j, err := f.Journal()
	switch {
	case err == nil:
		f.noteDamage(j.Damage())
	case !errors.Is(err, ErrJournal):
		f.noteDamage(err)
	}
	f.saving.Lock()
	loaded, err := f.t.registry.cfg.Store.Load(f.t.ID)
	gone := f.purged
	f.saving.Unlock()
	loaded.Free()
	if err == nil {
		err = loaded.Damage
	}
	if lost := errors.Is(err, datadir.ErrNotFound); !gone && (!lost || f.t.restored.Seq > 0) {
		f.noteDamage(err)
	}
}
