package terminal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/evertty/evertty/stream"
)

// recordFormat is the version of meta; a reader refuses another one.
const recordFormat = 1

// meta is the record of a terminal on disk: enough to list it and to restart it.
type meta struct {
	Format       int          `json:"format"`
	ID           string       `json:"id"`
	Spec         Spec         `json:"spec"`
	CreatedAt    time.Time    `json:"created_at"`
	Generation   int          `json:"generation,omitempty"` // 0 in old records: the first
	Watched      bool         `json:"watched,omitempty"`    // it had a viewer
	PausedFor    int64        `json:"stood_ns,omitempty"`   // how long its thread was paused
	State        string       `json:"state"`
	Exit         *stream.Exit `json:"exit,omitempty"`
	LastActivity time.Time    `json:"last_activity_at"`
	LastOutput   *time.Time   `json:"last_output_at,omitempty"`
	DeletedAt    time.Time    `json:"deleted_at,omitzero"`
	EndedAt      time.Time    `json:"ended_at,omitzero"`
	Cwd          string       `json:"cwd"`
	CwdFallback  string       `json:"cwd_fallback,omitempty"`
	Cols         int          `json:"cols"`
	Rows         int          `json:"rows"`
	BaseSize     stream.Size  `json:"base_size,omitzero"` // without viewers; zero in old records: the size they have
	Title        string       `json:"title,omitempty"`
	AltScreen    bool         `json:"alt_screen,omitempty"`
	Seq          uint64       `json:"seq"`
	Bells        uint64       `json:"bell_count,omitempty"`
	Killed       bool         `json:"killed,omitempty"` // somebody ends it
	RestoreDue   bool         `json:"restore_due,omitempty"`
	NotRestored  string       `json:"not_restored,omitempty"`
	RestartLine  string       `json:"restart_line,omitempty"` // see status.restartLine
	Parked       bool         `json:"parked,omitempty"`       // true of the screen at Seq alone
	LimitsBy     string       `json:"limits_by,omitempty"`
}

// meta is the terminal's current record.
func (f *files) meta() meta {
	i, title := f.t.Wire(), f.t.facts().Title
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	spec := f.t.Spec()
	if !f.t.deleted.IsZero() { // nothing starts with its values again
		spec.Env = nil
	}
	return meta{Format: recordFormat, ID: f.t.ID, Spec: spec, CreatedAt: f.t.created, Generation: f.t.generation,
		Watched: f.t.hadViewer, PausedFor: int64(f.t.pausedFor), State: i.State, Exit: i.Exit,
		LastActivity: i.LastActivityAt, LastOutput: i.LastOutputAt, DeletedAt: f.t.deleted, EndedAt: f.t.endedAt,
		Cwd: i.Cwd, CwdFallback: i.CwdFallback, Cols: i.Cols, Rows: i.Rows, BaseSize: f.t.sizeBase(), Title: title,
		AltScreen: i.AltScreen, Seq: i.Seq, Bells: i.BellCount, Parked: i.Parked, LimitsBy: f.t.limitsBy,
		Killed: f.t.killed, RestoreDue: f.t.restoreDue, NotRestored: f.t.restoreFailure, RestartLine: f.t.restartLine}
}

func parseMeta(id string, b []byte) (*meta, error) {
	var r meta
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("terminal: record of %s: %w", id, err)
	}
	if r.Format != recordFormat || r.ID != id {
		return nil, fmt.Errorf("terminal: record of %s: format %d of terminal %q; this server reads format %d",
			id, r.Format, r.ID, recordFormat)
	}
	r.Generation = max(r.Generation, firstGeneration)
	if r.Spec.Scrollback == nil {
		return nil, fmt.Errorf("terminal: record of %s: no scrollback", id)
	}
	return &r, nil
}

// saveRecord writes the record to disk. A failure is logged, and the terminal goes on.
func (f *files) saveRecord() { _ = f.writeRecord() }

// writeRecord is saveRecord for a caller who needs the record on disk. It makes the record with the lock held, or one
// that says "running" could be written after the one with the end. Once the end is on disk, the keeper may drop the
// process. Errors: as the store.
func (f *files) writeRecord() error { return f.writeRecordBy(f.t.registry.cfg.Store.SaveMeta) }

// writeRecordBy is writeRecord by a method of the store.
func (f *files) writeRecordBy(save func(id string, p []byte) error) error {
	f.saving.Lock()
	defer f.saving.Unlock()
	if f.purged {
		return nil
	}
	r := f.meta()
	b, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("invariant violation: record of %s: %v", f.t.ID, err))
	}
	if err := save(f.t.ID, b); err != nil {
		f.failed(recordFailure, err)
		return err
	}
	f.worked(recordFailure)
	f.raise(&f.grown, f.t.registry.grown)
	f.t.mu.Lock()
	f.t.cwdSaved = r.Cwd
	f.t.mu.Unlock()
	if r.State != StateRunning && f.t.process != nil {
		f.t.registry.cfg.Keeper.Release(f.t.KeeperID())
	}
	return nil
}
