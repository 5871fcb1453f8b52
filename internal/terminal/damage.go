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
func (t *Terminal) allDamage() string {
	t.mu.Lock()
	read := t.damage
	t.mu.Unlock()
	if j := cmp.Or(t.journal, t.endedJournal.opened.Load()); j != nil {
		return addLines(read, j.Losses())
	}
	return read
}

// inspectEnded inspects the terminals that came back ended, one after the other, so that
// damage is known before somebody asks for a screen.
func (m *Registry) inspectEnded() {
	for _, t := range m.All() {
		if m.ctx.Err() != nil {
			return
		}
		if t.process == nil && t.screen.now() == nil {
			t.inspect()
		}
	}
}

// inspect reads the snapshot and the indexes of one terminal and notes their damage.
func (t *Terminal) inspect() {
	j, err := t.Journal()
	switch {
	case err == nil:
		t.noteDamage(j.Damage())
	case !errors.Is(err, ErrJournal):
		t.noteDamage(err)
	}
	t.saving.Lock()
	loaded, err := t.registry.cfg.Store.Load(t.ID)
	gone := t.purged
	t.saving.Unlock()
	if err == nil {
		err = loaded.Damage
	}
	if lost := errors.Is(err, datadir.ErrNotFound); !gone && (!lost || t.restored.Seq > 0) {
		t.noteDamage(err)
	}
}
