package mux

import (
	"time"

	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// recover brings back the terminals of the store. Those that ran are lost: no
// process of theirs can be alive without its terminal. A terminal whose files
// are damaged costs nothing but itself.
func (m *Mux) recover() error {
	ids, err := m.cfg.Store.List()
	if err != nil {
		return err
	}
	for _, id := range ids {
		b, err := m.cfg.Store.LoadMeta(id)
		if err == nil {
			err = m.restore(id, b)
		}
		if err != nil {
			m.cfg.Metrics.failedRecoveries.Inc()
			m.cfg.Log.Error("cannot bring back a terminal", "id", id, "error", err)
		}
	}
	return nil
}

func (m *Mux) restore(id string, b []byte) error {
	r, err := parseRecord(id, b)
	if err != nil {
		return err
	}
	t := &Terminal{ID: id, mux: m, spec: r.Spec, created: r.CreatedAt, restored: r, state: r.State, exit: r.Exit,
		lastActivity: r.LastActivity, lastCwd: r.Cwd, deleted: r.DeletedAt, endedAt: r.EndedAt, ended: make(chan struct{})}
	close(t.ended)
	t.screen.load = t.load
	if n, err := m.cfg.Store.Size(id); err == nil {
		t.diskBytes.Store(n)
	}
	m.mu.Lock()
	m.byID[id] = t
	m.mu.Unlock()
	if t.state != StateExited && t.state != StateLost || t.exit == nil {
		t.state, t.exit = StateLost, &stream.Exit{Reason: "lost"}
		t.endedAt = time.Now().UTC()
		t.saveRecord()
	}
	return nil
}

// load reads the last screen from disk. A terminal whose snapshots are all
// damaged, or that never had one, shows an empty screen and says why.
func (t *Terminal) load() *stream.Hub {
	start := time.Now()
	f := blank(t.restored.Cols, t.restored.Rows)
	t.saving.Lock()
	loaded, err := t.mux.cfg.Store.Load(t.ID)
	t.saving.Unlock()
	seq := loaded.Header.Seq
	if err == nil {
		f, err = loaded.Frame, loaded.Damage
		t.mux.cfg.Metrics.recovery.Observe(time.Since(start).Seconds())
	}
	if err != nil {
		t.mux.cfg.Metrics.failedRecoveries.Inc()
		t.mux.cfg.Log.Warn("a terminal's snapshot is damaged", "id", t.ID, "error", err)
		t.mu.Lock()
		t.damage = err.Error()
		t.mu.Unlock()
	}
	return stream.NewFinished(t.options(), f, seq, *t.exit)
}

// blank is a screen on which nothing was ever written.
func blank(cols, rows int) *vt.Frame {
	cols, rows = max(cols, vt.MinSize), max(rows, vt.MinSize)
	return &vt.Frame{Cols: cols, Rows: rows, Unicode: vt.Unicode11, Modes: vt.DefaultModes(),
		Main: vt.Screen{Lines: make([]vt.Line, rows), Bottom: rows - 1}}
}
