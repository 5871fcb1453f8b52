package terminal

import (
	"errors"
	"strings"

	"github.com/evertty/evertty/internal/datadir"
)

// addLines is text with the lines of err that it does not have yet.
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

// allDamage is what was wrong with the files when they were read, and what its journal has lost or shown to be damaged since.
func (t *Terminal) allDamage(read string) string {
	if t.journal != nil {
		return addLines(read, t.journal.Wounds())
	}
	if j := t.endedJournal.opened.Load(); j != nil {
		return addLines(read, j.Wounds())
	}
	return read
}

func (t *Terminal) isDamaged() bool {
	t.mu.Lock()
	read := t.damage
	t.mu.Unlock()
	return t.allDamage(read) != ""
}

// inspectEnded looks at the files of the terminals that came back ended, so that damage is told before somebody asks for a screen. It reads
// snapshots and indexes, one terminal after the other, until the server closes.
func (m *Registry) inspectEnded() {
	for _, t := range m.All() {
		if m.ctx.Err() != nil {
			return
		}
		if t.process == nil && t.screen.hub.Load() == nil {
			t.inspect()
		}
	}
}

// inspect looks at the snapshot and the indexes of one terminal.
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
