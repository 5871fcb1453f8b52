package terminal

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/stream"
)

const (
	// idleBuffer is the buffer of a silent terminal, in bytes: a pseudo-terminal has no
	// more at once.
	idleBuffer = 4 << 10
	// floodBuffer is the buffer of a terminal that filled idleBuffer, in bytes.
	floodBuffer = 64 << 10
	// cwdInterval is the least time between two reads of the program's directory because of
	// output. Output is the last moment to read it: after the end of the program it is unknown.
	cwdInterval = 20 * time.Millisecond
	// floodLasts is how long after a full read the terminal counts as flooded.
	floodLasts = 100 * time.Millisecond
)

var floodBuffers = sync.Pool{New: func() any { b := make([]byte, floodBuffer); return &b }}

// run moves the program's output into the journal and then to the hub, until the program or
// the server ends. It is the only reader of the terminal, the only caller of Append, and the
// only goroutine that writes to the hub.
func (t *Terminal) run() {
	small := make([]byte, idleBuffer)
	var large *[]byte
	buf := small
	var err error
	for err == nil {
		var n int
		n, err = t.process.Fill(t.pipe, len(buf))
		if n >= idleBuffer {
			t.flooded.Store(time.Now().UnixNano())
		}
		if n > 0 {
			t.apply(n, buf)
		}
		switch {
		case n < idleBuffer && large != nil:
			floodBuffers.Put(large)
			buf, large = small, nil
		case n == idleBuffer && large == nil:
			large = floodBuffers.Get().(*[]byte)
			buf = *large
		}
	}
	if t.registry.ctx.Err() != nil && errors.Is(err, pty.ErrClosed) {
		return // the server ends, the program goes on
	}
	if !errors.Is(err, io.EOF) {
		t.registry.cfg.Log.Warn("terminal output ended early", "id", t.ID, "error", err)
	}
	t.finish()
}

// Flooded reports whether the program prints faster than its output is read.
func (t *Terminal) Flooded() bool { return time.Since(time.Unix(0, t.flooded.Load())) <= floodLasts }

// noteAnswered notes in the journal that queries before seq get their answers now, so that the
// next server does not answer them again. If this one is killed in between, the program gets
// no answer: better than a second one, which it would take for input.
func (t *Terminal) noteAnswered(seq uint64) {
	if err := t.journal.Answered(seq); err != nil {
		t.failed(journalFailure, err)
	}
	t.unsynced.Store(true)
}

// apply moves n bytes from the pipe into the journal and then to the screen and the viewers.
func (t *Terminal) apply(n int, buf []byte) {
	p, err := t.journal.Append(t.pipe, n, buf)
	if err != nil {
		t.failed(journalFailure, err)
	}
	t.noteEmptyLine()
	t.Hub().WriteFunc(p, t.input.reply)
	if seq, ok := t.Hub().AtRest(); ok {
		t.journal.Rested(seq)
	}
	t.changed()
	t.keepTyped()
	t.enforceQuota()
	if now := time.Now(); now.Sub(t.cwdChecked) > cwdInterval {
		t.cwdChecked = now
		t.readCwd()
	}
}

// catchUp applies the output in the pipe: the previous server took it from the terminal and
// did not write it to the journal.
func (t *Terminal) catchUp() error {
	buf := make([]byte, idleBuffer)
	for {
		n, err := t.pipe.Buffered()
		if err != nil || n == 0 {
			return err
		}
		t.apply(min(n, len(buf)), buf)
	}
}

// changed notes what is worth a snapshot.
func (t *Terminal) changed() {
	t.mu.Lock()
	t.changes++
	t.mu.Unlock()
	t.active.Store(true)
	t.unsynced.Store(true)
	t.grown.Store(true)
}

// finish notes the end of the program after its last output. The keeper drops the process
// only when its end is on disk.
func (t *Terminal) finish() {
	status, _ := t.process.Wait(context.Background()) // fails with its context only
	_ = t.process.Close()
	_ = t.pipe.Close()
	e := t.exitOf(status)
	t.mu.Lock()
	t.state, t.exit = StateExited, &e
	t.endedAt = time.Now().UTC()
	t.changes++
	t.mu.Unlock()
	if err := t.journal.Exit(endOf(e, t.endedAt)); err != nil {
		t.failed(journalFailure, err)
	}
	t.Hub().Finish(e)
	t.saveFinished()
	if err := t.journal.Close(); err != nil {
		t.failed(journalFailure, err)
	}
	t.awaitCwd()
	t.registry.hooks.Moved(t, t.Cwd())
	t.registry.hooks.Exited(t, e)
	if t.spec.Provider != "" {
		t.registry.hooks.DropProgram(t)
	}
	close(t.ended)
	t.registry.changes.Notify()
}

// saveFinished writes the last screen and the end of the program, unless they are about to be removed. Where that
// is given up, the next checkpoint of all terminals writes them.
func (t *Terminal) saveFinished() {
	if t.generations.purges.Load() > 0 {
		return
	}
	if t.save() {
		t.worked(journalFailure) // no output comes that could be lost
	}
	if t.generations.deletes.Load() == 0 { // else remove does
		t.saveRecord() // again: a damaged record is read from the one before, which has the end then
	}
}

// exitOf is the Exit for a status of the process. An unknown status has no code.
func (t *Terminal) exitOf(status pty.Exit) stream.Exit {
	e := stream.Exit{Signal: status.Signal, Reason: "exit", Code: &status.Code}
	if status.Signal != "" {
		e.Reason = "signal"
	}
	if status.Code < 0 {
		e.Code, e.Reason = nil, "lost"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.killed {
		e.Reason = "killed"
	}
	return e
}
