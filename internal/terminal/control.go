package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/parallel"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Input writes to the program, completely and in order, and waits until the terminal took
// everything. It is activity: a paused thread goes on. Errors: ErrExited, *pty.LineTooLong
// (nothing is typed), *Blocked, context.Cause(ctx), as Hooks.Authorize.
func (t *Terminal) Input(ctx context.Context, p []byte) (wire.Sent, error) {
	if !t.Running() {
		return wire.Sent{}, t.ExitError()
	}
	if err := t.registry.hooks.Authorize(ctx, t); err != nil {
		return wire.Sent{}, err
	}
	t.touch()
	s := wire.Sent{Bytes: len(p)}
	err := t.input.write(ctx, p, func(mode pty.LineMode) { s.Seq = t.noteInput(p, mode) })
	s.Success = err == nil
	t.keepTyped()
	return s, t.typedIn(p, s.Seq, err)
}

// TryInput is Input by the caller's goroutine where that takes no time. ok is false, and nothing is typed, when other
// input waits, when the terminal has ended, and when Input would wait or fail for another reason. What the program does
// not take at once is written behind, before whatever is typed later; failed is called with the errors of Input if the
// program does not take it, and must return at once. p is the terminal's.
func (t *Terminal) TryInput(p []byte, failed func(error)) (ok bool) {
	if !t.Running() || !t.registry.hooks.MayType(t) {
		return false
	}
	t.touch()
	var seq uint64
	return t.input.try(t.registry.ctx, p, func(mode pty.LineMode) { seq = t.noteInput(p, mode) }, func(err error) {
		t.keepTypedSoon()
		if err := t.typedIn(p, seq, err); err != nil {
			failed(err)
		}
	})
}

// typedIn records input that was written behind position seq, or failed with err, which it returns as a caller gets it.
func (t *Terminal) typedIn(p []byte, seq uint64, err error) error {
	if blocked, ok := errors.AsType[*Blocked](err); ok {
		blocked.Seq = seq
		if blocked.Bytes == 0 {
			blocked.Seq = t.Hub().Stats().Seq
		}
	}
	if err == nil {
		if e := t.journal.Input(p); e != nil {
			t.failed(journalFailure, e)
		}
		t.raise(&t.unsynced, t.registry.syncs.due)
	}
	return t.endedError(err)
}

// endedError is err, or ExitError when err says that the program or this server has ended.
func (t *Terminal) endedError(err error) error {
	if errors.Is(err, pty.ErrExited) || errors.Is(err, pty.ErrClosed) || errors.Is(err, ErrExited) {
		return t.ExitError()
	}
	return err
}

// ExitError says that the terminal has ended, and its state; it wraps ErrExited.
func (t *Terminal) ExitError() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Errorf("%w: terminal %s is %s", ErrExited, t.ID, t.state)
}

// Keys writes named keys as the program's modes demand. Errors: as Input,
// and vt.ErrUnknownKey.
func (t *Terminal) Keys(ctx context.Context, names []string) (wire.Sent, error) {
	p, err := vt.EncodeKeys(names, t.Hub().Modes())
	if err != nil {
		return wire.Sent{}, err
	}
	return t.Input(ctx, p)
}

// Mouse writes a mouse event, if the program asked for such events: Bytes is 0 when it did not.
// Errors: as Input, and vt.ErrBadMouse.
func (t *Terminal) Mouse(ctx context.Context, e vt.MouseEvent) (wire.Sent, error) {
	p, err := vt.EncodeMouse(e, t.Hub().Modes())
	switch {
	case err != nil:
		return wire.Sent{}, err
	case len(p) == 0 && t.Running():
		return wire.Sent{Success: true, Seq: t.facts().Seq}, nil
	}
	return t.Input(ctx, p)
}

// Paste writes text as a paste: in brackets when the program asked for them, and without
// control characters that a terminal acts on (vt.Paste). Errors: as Input.
func (t *Terminal) Paste(ctx context.Context, text string) (wire.Sent, error) {
	if !t.Running() {
		return wire.Sent{}, t.ExitError()
	}
	signals, err := t.process.Master().SignalChars()
	if err != nil {
		return wire.Sent{}, t.ExitError()
	}
	return t.Input(ctx, vt.Paste(text, t.Hub().Modes(), string(signals)))
}

// unwatched is how long a terminal without viewers keeps the size that they have given it: a page is loaded again, a
// line breaks, and each change of size is redrawn by the program.
const unwatched = 2 * time.Second

// Resize is resize that holds also when the last viewer has gone. Errors: ErrInvalid, ErrExited.
func (t *Terminal) Resize(cols, rows int) error {
	err := t.resize(cols, rows)
	if err == nil {
		t.mu.Lock()
		t.baseSize = stream.Size{Cols: cols, Rows: rows}
		t.mu.Unlock()
	}
	return err
}

// resizeBack gives a terminal without viewers, unless its size is fixed, the size of its creation again, or the one of
// Resize since.
func (t *Terminal) resizeBack() {
	h := t.now()
	if h == nil || h.Parked() || h.Stats().Attached > 0 || h.Policy() == stream.PolicyFixed {
		return
	}
	_ = t.fit(t.sizeUnwatched()) // a terminal that has ended has no size to change
}

// sizeUnwatched is the size of the terminal without viewers.
func (t *Terminal) sizeUnwatched() stream.Size {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sizeBase()
}

// sizeBase is sizeUnwatched with mu held.
func (t *Terminal) sizeBase() stream.Size {
	if t.baseSize != (stream.Size{}) {
		return t.baseSize
	}
	return stream.Size{Cols: *t.spec.Cols, Rows: *t.spec.Rows}
}

// resize changes the screen and then the PTY; the program gets SIGWINCH. In that order what the program draws for the
// new size is never applied to a screen of the old one. Both have one size when two callers resize at once. Errors:
// ErrInvalid, ErrExited.
func (t *Terminal) resize(cols, rows int) error {
	if err := CheckSize(cols, rows); err != nil {
		return err
	}
	if !t.Running() {
		return t.ExitError()
	}
	t.resizing.Lock()
	defer t.resizing.Unlock()
	t.Hub().Resize(cols, rows)
	if err := t.process.Resize(cols, rows); err != nil {
		return t.endedError(err)
	}
	t.touch()
	t.registry.changes.Notify()
	return nil
}

// Signal sends a signal to the foreground process group. Errors:
// pty.ErrBadSignal, ErrExited.
func (t *Terminal) Signal(name string) error {
	sig, err := pty.ParseSignal(name)
	if err != nil {
		return err
	}
	if !t.Running() {
		return t.ExitError()
	}
	if err := t.process.Signal(sig); err != nil {
		return t.endedError(err)
	}
	t.touch()
	return nil
}

// RequestSize notes the size a viewer would like and resizes the terminal when the
// policy says so.
func (t *Terminal) RequestSize(sub *stream.Subscription, cols, rows int) error {
	return t.fit(sub.RequestSize(min(cols, vt.MaxSize), min(rows, vt.MaxSize)))
}

// Hide implements stream.Terminal.
func (t *Terminal) Hide(sub *stream.Subscription, hidden bool) {
	sub.Hide(hidden)
	_ = t.fit(t.Hub().EffectiveSize()) // a terminal that has ended has no size to change
}

// Detach ends a viewer. Behind the last one the size is again as it was without viewers.
func (t *Terminal) Detach(sub *stream.Subscription) {
	sub.Close()
	t.mu.Lock()
	t.lastDetach = time.Now() // the last of several is the one that counts
	t.mu.Unlock()
	_ = t.fit(t.Hub().EffectiveSize()) // a terminal that has ended has no size to change
	if t.facts().Attached == 0 {
		time.AfterFunc(unwatched, t.resizeBack)
	}
}

func (t *Terminal) fit(s stream.Size) error {
	f := t.facts()
	if s.Cols == f.Cols && s.Rows == f.Rows || !t.Running() {
		return nil
	}
	return t.resize(s.Cols, s.Rows)
}

// Delete ends all processes of the terminal, of any generation, and takes it off the lists.
// Its last screen stays readable by id; with purge nothing stays. Deleting twice is no error,
// also at the same time. A generation that is being started is deleted once it runs.
// Errors: context.Cause(ctx), as the store.
func (r *Registry) Delete(ctx context.Context, t *Terminal, purge bool) error {
	t.generations.deletes.Add(1)
	defer t.generations.deletes.Add(-1)
	if purge {
		t.generations.purges.Add(1)
		defer t.generations.purges.Add(-1)
	}
	for {
		now := r.current(t.ID)
		if now == nil {
			return nil
		}
		if err := now.endAll(ctx); err != nil {
			return err
		}
		if done, err := r.deleteEnded(ctx, now, purge); done || err != nil {
			return err
		}
	}
}

// deleteEnded is Delete of a terminal that has ended. done is false when another generation
// was started before it had the lock.
func (r *Registry) deleteEnded(ctx context.Context, t *Terminal, purge bool) (done bool, err error) {
	if err := t.generations.lock(ctx); err != nil {
		return false, err
	}
	defer t.generations.unlock()
	switch r.current(t.ID) {
	case t:
		return true, r.remove(t, purge)
	case nil:
		return true, nil
	}
	return false, nil
}

// endAll ends all processes of any generation and waits for that. Errors: context.Cause(ctx).
func (t *Terminal) endAll(ctx context.Context) error {
	if !t.Running() {
		t.EndLeftovers(context.WithoutCancel(ctx))
		return nil
	}
	t.HangUp(context.WithoutCancel(ctx))
	select {
	case <-t.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// remove takes an ended terminal off the lists, or purges it. The caller has locked its
// generations.
func (r *Registry) remove(t *Terminal, purge bool) error {
	t.mu.Lock()
	if t.deleted.IsZero() {
		t.deleted = time.Now().UTC()
	}
	t.mu.Unlock()
	r.hooks.Removed(t)
	if purge {
		return r.purge(t)
	}
	t.saveRecord()
	if len(t.spec.Env) > 0 {
		t.saveRecord() // the record before is kept too, and has them
	}
	r.unload(t)
	r.changes.Notify()
	return nil
}

// DeleteSession deletes all terminals of a session at once; with purge also those that were
// deleted before. Errors: as Delete.
func (r *Registry) DeleteSession(ctx context.Context, session string, purge bool) error {
	list := r.List(session)
	if purge {
		list = slices.DeleteFunc(r.Unsorted(), func(t *Terminal) bool { return !t.In(session) })
	}
	return parallel.Each(list, len(list), func(t *Terminal) error { return r.Delete(ctx, t, purge) })
}

// TagOf is the Tag of the terminal with that id or KeeperID in the data directory with an identity,
// see datadir.Identity.
func TagOf(identity, id string) uint64 {
	id, _, _ = strings.Cut(id, ".")
	if identity != "" {
		id = identity + " " + id
	}
	return proc.TagOf("terminal " + id)
}

// purge removes an ended terminal and its files. The caller has locked its generations.
func (r *Registry) purge(t *Terminal) error {
	r.mu.Lock()
	delete(r.byID, t.ID)
	r.mu.Unlock()
	r.forget(t)
	r.hooks.Removed(t)
	r.changes.Notify()
	if t.process != nil {
		r.cfg.Keeper.Release(t.KeeperID()) // saveRecord has not, if the record could not be written
	}
	return t.removeFiles()
}

// removeFiles removes the terminal's files; nothing is written after that.
func (f *files) removeFiles() error {
	f.saving.Lock()
	defer f.saving.Unlock()
	f.purged = true
	if j, err := f.Journal(); err == nil {
		j.Retire(true) // nothing is compressed in a directory that is being removed
	}
	return f.t.registry.cfg.Store.Remove(f.t.ID)
}
