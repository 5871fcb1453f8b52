package terminal

import (
	"errors"
	"fmt"
	"io"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/parallel"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/wire"
)

// restoresAtOnce is how many programs are started at once after a crash of the machine: each is a process that reads
// its files from a disk that all want.
const restoresAtOnce = 4

// ErrNotRestored says why nothing was started in a terminal after a crash.
var ErrNotRestored = errors.New("nothing was started after the crash")

// noteCrash notes that the program was lost, and that another is due where the terminal says so. It is in the record
// that says lost: each crash starts one at most once. A program that somebody was ending is not started again.
func (t *Terminal) noteCrash() {
	t.restoreDue = t.Spec().Restore != nil && !t.restored.Killed && t.restored.DeletedAt.IsZero()
}

// restoreLost starts what is due after a crash. What is not started when the server closes is started by the next.
func (r *Registry) restoreLost() {
	_ = parallel.Each(r.All(), restoresAtOnce, func(t *Terminal) error {
		if !t.isRestoreDue() || r.ctx.Err() != nil {
			return nil
		}
		next, err := r.restoreProgram(t)
		switch {
		case err == nil:
			r.cfg.Log.Info("started after a crash", "id", t.ID, "generation", next.generation, "pid", next.process.PID())
		case r.ctx.Err() != nil, errors.Is(err, ErrClosing):
		case errors.Is(err, ErrRunning), errors.Is(err, ErrNotFound): // somebody restarted or deleted it
		default:
			t.notRestored(err)
		}
		return nil
	})
}

func (s *status) isRestoreDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restoreDue && s.deleted.IsZero()
}

// restoreProgram starts the program of a lost terminal that is due. Errors: ErrNotRestored; as Restart.
func (r *Registry) restoreProgram(t *Terminal) (*Terminal, error) {
	spec := t.Spec()
	argv := []string(spec.Restore)
	if spec.Restore.Own() {
		argv = spec.Cmd
	}
	switch {
	case r.cfg.Copied:
		return nil, fmt.Errorf("%w: the data directory is a copy", ErrNotRestored)
	case spec.Provider != "":
		return nil, fmt.Errorf("%w: programs at a provider are not", ErrNotRestored)
	case r.hooks.Paused(spec.Session):
		return nil, fmt.Errorf("%w: the thread is paused", ErrNotRestored)
	}
	if err := r.hooks.MayRestore(t, argv); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRestored, err)
	}
	return r.restart(t, argv)
}

// notRestored notes why nothing was started; it is not tried again.
func (t *Terminal) notRestored(err error) {
	if !errors.Is(err, ErrNotRestored) {
		err = fmt.Errorf("%w: %w", ErrNotRestored, err)
	}
	t.mu.Lock()
	t.restoreDue, t.restoreFailure = false, err.Error()
	t.mu.Unlock()
	t.registry.cfg.Log.Warn("not started after a crash", "id", t.ID, "error", err)
	t.saveRecord()
	t.registry.changes.Notify()
}

// journaledEnd is the end of the program that the journal has and the record has not, nil for none: everything was
// killed in between.
func (f *files) journaledEnd() (end *journal.End) {
	j, err := f.Journal()
	if err != nil {
		return nil
	}
	r, err := j.Read(j.End())
	if err != nil {
		return nil
	}
	defer r.Close()
	for {
		switch e, err := r.Next(); {
		case errors.Is(err, io.EOF):
			return end
		case err != nil:
			return nil
		case e.Kind == journal.EntryExit:
			end = e.End
		case e.Kind == journal.EntryRestart:
			end = nil
		}
	}
}

// checkRestore checks what shall start after a crash. Errors: *Invalid.
func checkRestore(r wire.Restore) error {
	if err := checkWords(r); err != nil {
		return &Invalid{"restore", err}
	}
	return nil
}

// checkRestoreAt refuses what shall start after a crash where a provider has the program: its instance may live on with
// it, and what it holds is lost to this machine. Errors: pty.ErrUnsupported.
func checkRestoreAt(provider string, r wire.Restore) error {
	if r == nil || provider == "" {
		return nil
	}
	return fmt.Errorf("%w: restore at the provider %s; after a crash of this machine restart the terminal",
		pty.ErrUnsupported, provider)
}
